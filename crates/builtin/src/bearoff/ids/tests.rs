use super::super::rank::sides;
use super::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use proptest::prelude::*;

/// Own and opponent, Position ID, Match ID, XGID, as GNU Backgammon 1.07.001 reads and prints them: the XGID
/// went in (`set xgid`), the IDs came out (`show board`).
const GNUBG: [(&str, &str, &str, &str); 10] = [
    (
        "1,1,1,1,1,1/1,1,1,1,1,1",
        "VQUAgKoCAAAAAA",
        "cAkAAAAAAAAE",
        "XGID=-AAAAAA------------aaaaaa-:0:0:1:00:0:0:0:0:10",
    ),
    (
        "0,0,0,0,0,14/14,0,0,0,0,0",
        "/z8AAADw/wMAAA",
        "cAkFAAAAAAAE",
        "XGID=------N-----------------n-:0:0:1:21:0:0:0:0:10",
    ),
    (
        "2,0,2,1,0,0/5,0,0,0,0,0",
        "HwAAwCwAAAAAAA",
        "cAkXAAAAAAAE",
        "XGID=-B-BA-------------------e-:0:0:1:65:0:0:0:0:10",
    ),
    (
        "1,2,0,4,0,0/1,0,0,3,0,1",
        "cQIAQPMAAAAAAA",
        "cAkAAAAAAAAE",
        "XGID=-AB-D--------------a-c--a-:0:0:1:00:0:0:0:0:10",
    ),
    (
        "1,2,0,4,0,0/1,0,0,3,0,1",
        "cQIAQPMAAAAAAA",
        "cIkNAAAAAAAE",
        "XGID=-A--C-A--------------d-ba-:0:0:-1:33:0:0:0:0:10",
    ),
    (
        "0,0,0,0,0,1/1,0,0,0,0,0",
        "AQAAgAAAAAAAAA",
        "cAkAAAAAAAAE",
        "XGID=------A-----------------a-:0:0:1:00:0:0:0:0:10",
    ),
    (
        "0,0,2,4,4,4/0,1,2,3,4,4",
        "2r0HAAD23gMAAA",
        "cIkSAAAAAAAE",
        "XGID=---BDDD------------ddcba--:0:0:1:54:0:0:0:0:10",
    ),
    (
        "2,2,2,3,3,3/15,0,0,0,0,0",
        "/38AAADb7g4AAA",
        "cAkAAAAAAAAE",
        "XGID=-O-----------------cccbbb-:0:0:-1:00:0:0:0:0:10",
    ),
    (
        "0,0,0,0,0,15/0,0,0,0,0,15",
        "4P8PAADg/w8AAA",
        "cAkbAAAAAAAE",
        "XGID=------O------------o------:0:0:1:66:0:0:0:0:10",
    ),
    (
        "10,0,0,0,0,1/5,0,0,0,0,4",
        "HzwAAPwPAgAAAA",
        "cAkHAAAAAAAE",
        "XGID=-E----D------------a----j-:0:0:-1:61:0:0:0:0:10",
    ),
];

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

fn from_id(text: &str) -> Result<Position, GameError> {
    Ok(super::position(IDS.read_id(text)?).0)
}

fn from_xgid(text: &str) -> Result<(Position, Option<Roll>), GameError> {
    Ok(super::position(IDS.read_xgid(text)?))
}

/// The text of an error, which must quote `given` and contain `what`.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, GameError>, given: &str, what: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(given) && error.contains(what), "`{error}` does not say `{what}`");
}

#[test]
fn ids_are_those_of_gnubg() {
    for (text, id, match_id, xgid) in GNUBG {
        assert_eq!(position(text).id(), id);
        assert_eq!(from_id(id), Ok(position(text)));
        assert_eq!(from_xgid(xgid).unwrap().0, position(text));
        for form in
            [format!("{id}:{match_id}"), format!("GNUBgID {id}:{match_id}"), format!("Position ID: {id}")]
        {
            assert_eq!(from_id(&form), Ok(position(text)), "{form}");
        }
    }
}

#[test]
fn xgids_tell_the_roll_and_whose_it_is() {
    for (text, _, _, xgid) in GNUBG {
        let roll = xgid.split(':').nth(4).unwrap().parse().ok();
        assert_eq!(from_xgid(xgid), Ok((position(text), roll)));
        if xgid.contains(":0:0:1:") {
            assert_eq!(position(text).xgid(roll), xgid);
        }
    }
    // Scores, cube and rules of a match are ignored, and labels may be missing.
    let in_a_match = "-AAAAAA------------aaaaa--:1:-1:1:25:3:4:1:7:10";
    let (read, roll) = from_xgid(in_a_match).unwrap();
    assert_eq!(read, position("1,1,1,1,1,1/0,1,1,1,1,1"));
    assert_eq!(roll, Roll::new(5, 2));
}

#[test]
fn positions_are_read_in_every_form() {
    let wanted = position("1,2,0,4,0,0/1,0,0,3,0,1");
    for text in [
        "1,2,0,4,0,0/1,0,0,3,0,1",
        " 1, 2, 0, 4, 0, 0 / 1, 0, 0, 3, 0, 1",
        "cQIAQPMAAAAAAA",
        " cQIAQPMAAAAAAA\n",
        "cQIAQPMAAAAAAA:cIkNAAAAAAAE",
        "Position ID: cQIAQPMAAAAAAA",
        "gnubgid cQIAQPMAAAAAAA:cIkNAAAAAAAE",
        "XGID=-A--C-A--------------d-ba-:0:0:-1:33:0:0:0:0:10",
        "xgid: -AB-D--------------a-c--a-:0:0:1:00:0:0:0:0:10",
        "-AB-D--------------a-c--a-:0:0:1:00:0:0:0:0:10",
    ] {
        assert_eq!(text.parse(), Ok(wanted), "{text}");
    }
    // The first of these IDs begins with a slash.
    assert_eq!("/z8AAADw/wMAAA".parse(), Ok(position("0,0,0,0,0,14/14,0,0,0,0,0")));
}

#[test]
fn what_is_no_bear_off_is_refused_with_the_reason() {
    let id = |text, what| {
        refused(from_id(text), text, what);
        refused(text.parse::<Position>(), text, what);
    };
    id("VQUAgKoCAAAAA", "13 instead of 14 characters");
    id("VQUAgKoCAAAAAAA", "15 instead of 14 characters");
    id("VQUAgKoCAAAAAé", "`é` is not a character of Base64");
    id("VQUAgKoCAAAA-A", "`-` is not a character of Base64");
    id("VQUAgKoCAAAAAB", "beyond the 80");
    id("VQUAgKoCAAAAAA:", "0 instead of 12 characters after the colon");
    id("VQUAgKoCAAAAAA:cAkAAAAAAAA", "11 instead of 12 characters after the colon");
    id("VQUAgKoCAAAAAA:cAkAAAAAAAA!", "`!` is not a character of Base64");
    id("4HPwATDgc/ABMA", "the side not to roll has 3 on point 8");
    id("/////////////w", "the side not to roll has 80 checkers");
    id("//8AAAAAAAAAAA", "the side not to roll has 16 checkers; at most 15 are allowed");
    // One bit more than 25 zeros per side allow, and a checker on the bar.
    id("AAAAAAAABAAAAA", "ones after the bar");
    id("AAAAAQAAAAAAAA", "the side not to roll has 1 on the bar");

    id("VQUAgKoCAAAAAA:cBkXAAAAAAAE", "answer to a double");
    id("VQUAgKoCAAAAAA:cAkfAAAAAAAE", "the dice 6 and 7");

    let xgid = |text, what| {
        refused(from_xgid(text), text, what);
        refused(text.parse::<Position>(), text, what);
    };
    xgid("-AAAAAA------------aaaaaa-", "0 instead of 9 fields");
    xgid("XGID=-AAAAAA------------aaaaaa-:0:0:1:00:0:0:0:0", "8 instead of 9 fields");
    xgid("XGID=-AAAAAA------------aaaaaa-:0:0:1:00:0:0:0:0:10:", "10 instead of 9 fields");
    xgid("XGID=-AAAAAA-----------aaaaaa-:0:0:1:00:0:0:0:0:10", "25 instead of 26 characters");
    xgid("XGID=-AAAAAA------?-----aaaaaa-:0:0:1:00:0:0:0:0:10", "`?`, character 14 of its board");
    xgid("XGID=-AAAAAP------------aaaaaa-:0:0:1:00:0:0:0:0:10", "`P`, character 7 of its board");
    xgid("XGID=AAAAAAA------------aaaaaa-:0:0:1:00:0:0:0:0:10", "`A`, character 1 of its board");
    xgid("XGID=-AAAAAA------------aaaaaab:0:0:1:00:0:0:0:0:10", "`b`, character 26 of its board");
    xgid("XGID=aAAAAAA------------aaaaaa-:0:0:1:00:0:0:0:0:10", "the small letters has 1 on the bar");
    xgid("XGID=-AAAAAA------------aaaaaaC:0:0:1:00:0:0:0:0:10", "the capital letters has 3 on the bar");
    xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "the capital letters has 3 on point 8");
    xgid("XGID=-AAAAAA-----b------aaaaaa-:0:0:1:00:0:0:0:0:10", "the small letters has 2 on point 13");
    xgid("XGID=-HH----------------aaaaaa-:0:0:1:00:0:0:0:0:10", "has 16 checkers");
    xgid("XGID=-AAAAAA------------aaaaaa-:0:0:0:00:0:0:0:0:10", "`0`, the turn");
    xgid("XGID=-AAAAAA------------aaaaaa-:0:0:1:07:0:0:0:0:10", "`07`, the dice");
    xgid("XGID=-AAAAAA------------aaaaaa-:0:0:1:6-5:0:0:0:0:10", "`6-5`, the dice");
    xgid("XGID=-AAAAAA------------aaaaaa-:0:0:1:D:0:0:0:0:10", "answer to a double");
    xgid("XGID=-AAAAAA------------aaaaaa-:x:0:1:00:0:0:0:0:10", "`x`, the cube, is not a whole number");
    xgid("XGID=-AAAAAA------------aaaaaa-:0:0:1:00:0::0:0:10", "``, the score, is not a whole number");
    refused("1,1,1,1,1,1".parse::<Position>(), "1,1,1,1,1,1", "only one side");
    refused("".parse::<Position>(), "", "not a position");
    refused("VQUAgKoCA".parse::<Position>(), "VQUAgKoCA", "not a position");
}

#[test]
fn dice_of_ids_are_the_roll() {
    for (text, id, match_id, xgid) in GNUBG {
        let roll = xgid.split(':').nth(4).unwrap().parse().ok();
        let wanted = Situation { position: position(text), roll };
        for form in [xgid.to_string(), format!("{id}:{match_id}"), format!("Position ID: {id}:{match_id}")] {
            assert_eq!(form.parse(), Ok(wanted), "{form}");
        }
        assert_eq!(wanted.to_string().parse(), Ok(wanted));
        // Dice beside an ID.
        let rolled = Situation { roll: Roll::new(5, 3), ..wanted };
        for form in [format!("{id} 53"), format!("{id}:35"), format!("{id}: 5-3"), format!("{id} 5,3")] {
            assert_eq!(form.parse(), Ok(rolled), "{form}");
        }
        for form in [format!("{xgid} 53"), format!("{id}:{match_id} 53")] {
            match roll {
                None => assert_eq!(form.parse(), Ok(rolled), "{form}"),
                Some(own) => refused(form.parse::<Situation>(), &own.to_string(), "53 are given beside it"),
            }
        }
    }
    let same = "XGID=-AAAAAA------------aaaaaa-:0:0:1:52:0:0:0:0:10 25".parse::<Situation>().unwrap();
    assert_eq!(same.roll, Roll::new(5, 2));
    refused("VQUAgKoCAAAAAA 7".parse::<Situation>(), "`7`", "not a roll");
}

fn any_side() -> impl Strategy<Value = Side> {
    (0..sides(MAX_CHECKERS)).prop_map(Side::of_rank)
}

proptest! {
    #[test]
    fn every_position_is_read_back(own in any_side(), opponent in any_side(), a in 0u8..=6, b in 1u8..=6) {
        let (position, roll) = (Position { own, opponent }, Roll::new(a, b));
        prop_assert_eq!(from_id(&position.id()), Ok(position));
        prop_assert_eq!(from_xgid(&position.xgid(roll)), Ok((position, roll)));
        for text in [position.to_string(), position.id(), position.xgid(roll)] {
            prop_assert_eq!(text.parse(), Ok(position));
        }
        // The same board with the lowercase player to roll.
        let turned = position.swapped().xgid(roll).replace(":0:0:1:", ":0:0:-1:");
        prop_assert_eq!(from_xgid(&turned), Ok((position, roll)));
    }

    /// Flipping a bit gives the ID of another position or an invalid one.
    #[test]
    fn a_position_has_one_id(own in any_side(), opponent in any_side(), bit in 0usize..80) {
        let position = Position { own, opponent };
        let mut bytes = STANDARD_NO_PAD.decode(position.id()).unwrap();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let id = STANDARD_NO_PAD.encode(bytes);
        if let Ok(other) = from_id(&id) {
            prop_assert_ne!(other, position);
            prop_assert_eq!(other.id(), id);
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}", id in "[A-Za-z0-9+/]{14}", board in "[-A-Oa-o]{26}") {
        let xgid = format!("XGID={board}:0:0:1:00:0:0:0:0:10");
        for text in [&text, &id, &xgid, &format!("XGID={text}"), &format!("Position ID:{text}")] {
            let _ = text.parse::<Situation>();
        }
    }
}
