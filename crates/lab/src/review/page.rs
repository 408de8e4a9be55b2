//! A review as one HTML file: the players, the value over the games, and every decision on a board.
//!
//! The file contains its data as JSON, and the styles and boards of the web page. It loads nothing from a server.

use super::{GameSteps, Review};
use crate::report::{program, since_epoch};
use serde_json::{Value, json};
use std::time::SystemTime;

/// Most actions of players on a page.
pub const PAGE_ACTIONS: usize = 20_000;

/// The page of a review that kept its steps ([`ReviewOptions::steps`](super::ReviewOptions::steps)); `command` is what makes it again.
pub fn page(review: &Review, command: &str) -> String {
    let mut data = page_data(review);
    data["command"] = command.into();
    adept_page::review(&data.to_string())
}

/// What a page shows of such a review, as JSON.
pub fn page_data(review: &Review) -> Value {
    let faults = review.faults.iter().map(
        |fault| json!({ "file": fault.file.display().to_string(), "game": fault.game, "why": fault.why }),
    );
    json!({
        "made": since_epoch(SystemTime::now()),
        "program": program(),
        "files": review.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(),
        "game": review.game,
        "by": review.by,
        "then": review.then,
        "references": review.references,
        "unit": review.unit,
        "unit_size": review.unit_size,
        "players": review.players,
        "played": review.steps.iter().map(game).collect::<Vec<_>>(),
        "finished": review.finished,
    })
}

fn game(game: &GameSteps) -> Value {
    let mut found = json!({
        "file": game.file.display().to_string(),
        "game": game.game,
        "rules": game.rules,
        "players": game.players,
        "steps": game.steps,
    });
    if let Some(result) = game.result {
        found["result"] = result.into();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FIRST, reviewed, try_review};
    use super::*;

    /// The data in a page.
    fn data(html: &str) -> Value {
        let begin = "<script type=\"application/json\" id=\"data\">";
        let (_, rest) = html.split_once(begin).expect("a script with data");
        let (data, _) = rest.split_once("</script>").expect("its end");
        serde_json::from_str(data).expect("JSON")
    }

    #[test]
    fn a_page_holds_every_decision_and_loads_nothing() {
        let review = reviewed("", FIRST, Some(PAGE_ACTIONS));
        let html = page(&review, "adept review one.mat --html x.html");
        let found = data(&html);
        let steps = found["played"][0]["steps"].as_array().unwrap();
        let kinds: Vec<&str> = steps.iter().map(|step| step["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["chance", "move"].repeat(5));
        let worst = &review.worst[0];
        let wrong: Vec<&Value> = steps.iter().filter(|step| step["verdict"] == "wrong").collect();
        let [wrong] = &wrong[..] else { panic!("{steps:?}") };
        assert_eq!((&wrong["played"], &wrong["player"]), (&json!(worst.played), &json!(2)));
        assert_eq!((&wrong["position"], &wrong["side"]), (&json!(worst.position), &json!(2)));
        assert_eq!((&wrong["candidates"][0]["action"], &wrong["mark"]), (&json!(worst.best), &json!(2)));
        assert!((wrong["points"].as_f64().unwrap() - worst.loss).abs() < 1e-5, "{wrong}");
        assert_eq!((&found["players"][0]["name"], &found["unit"]), (&json!("Ann"), &json!("points")));
        for outside in ["http://", "https://", "url(", "@import", "src="] {
            assert!(!html.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
        }
        assert!(!html.contains("/* looks */") && !html.contains("/* script */") && html.len() < 200_000);
    }

    /// A name cannot leave the data.
    #[test]
    fn names_are_text() {
        let name = "<b>Ann</script><script>alert(1)</script>";
        let html = page(&reviewed("", &FIRST.replace("Ann", name), Some(PAGE_ACTIONS)), "");
        assert!(!html.contains("<b>Ann") && html.contains("\\u003cb>Ann"));
        assert_eq!(data(&html)["played"][0]["players"][0], name);
    }

    /// Nobody pays for steps who does not ask for them, and nobody gets more than a page holds.
    #[test]
    fn steps_are_kept_when_asked_for() {
        let (with, without) = (reviewed("", FIRST, Some(5)), reviewed("", FIRST, None));
        assert!(without.steps.is_empty() && with.steps.len() == 1);
        let json = |review: &Review| {
            let mut value = serde_json::to_value(review).unwrap();
            value["file"] = Value::Null;
            value["files"] = Value::Null;
            value["worst"][0]["file"] = Value::Null;
            value["matches"][0]["file"] = Value::Null;
            value
        };
        assert_eq!(json(&with), json(&without));
        let error = try_review("", FIRST, Some(4)).unwrap_err().to_string();
        assert!(error.contains("more than 4 actions"), "{error}");
    }
}
