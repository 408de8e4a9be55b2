use super::build::check_memory;
use super::dominance::{Dominance, SAMPLE};
use super::gnubg::GnubgTable;
use super::grid::Grid;
use super::lanes::{LANES, Line};
use super::order::order_and_moves;
use super::solve::{Method, Team, solve_plain, solve_short};
use super::table::Storage;
use super::{Isa, Precision, Settings, Source, Table, TableError, find, usual_file};
use crate::bearoff::labelled::{self, Labelled};
use crate::bearoff::{DicePosition, Position, ROLLS, Side, rank, rules};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn solve(settings: Settings) -> Table {
    Table::solve(settings, &mut |_| {}).unwrap().0
}

fn side(text: &str) -> Side {
    text.parse().unwrap()
}

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

/// The definition: the mean over the throws of the best afterstate, by recursion with a memory.
struct Naive {
    afterstates: Vec<Vec<Vec<Side>>>,
    values: HashMap<Position, f64>,
}

impl Naive {
    fn new(checkers: u8) -> Self {
        let of_side = |rank| {
            let list = |roll| {
                let mut list = Vec::new();
                rules::afterstates(Side::of_rank(rank), roll, &mut list);
                list
            };
            ROLLS.map(list).to_vec()
        };
        Self { afterstates: (0..rank::sides(checkers)).map(of_side).collect(), values: HashMap::new() }
    }

    fn value(&mut self, position: Position) -> f64 {
        if position.own.is_empty() {
            return 1.0;
        }
        if position.opponent.is_empty() {
            return -1.0;
        }
        if let Some(&value) = self.values.get(&position) {
            return value;
        }
        let mut sum = 0.0;
        for (k, roll) in ROLLS.iter().enumerate() {
            let list = self.afterstates[position.own.rank()][k].clone();
            let after = |own| {
                if own == Side::EMPTY { 1.0 } else { -self.value(Position { own, ..position }.swapped()) }
            };
            sum += f64::from(roll.ways()) * list.into_iter().map(after).fold(f64::NEG_INFINITY, f64::max);
        }
        self.values.insert(position, sum / 36.0);
        sum / 36.0
    }
}

#[test]
fn every_precision_agrees_with_the_definition() {
    for (checkers, precision, tolerance) in [
        (5, Precision::Bits64, 1e-12),
        (4, Precision::Bits32, 1e-6),
        (5, Precision::Bits16, 5e-5),
        (1, Precision::Bits16, 5e-5),
    ] {
        let table = solve(Settings { precision, ..Settings::new(checkers) });
        let mut naive = Naive::new(checkers);
        let sides = rank::sides(checkers);
        let mut largest: f64 = 0.0;
        for own in 0..sides {
            for opponent in 0..sides {
                let position = Position { own: Side::of_rank(own), opponent: Side::of_rank(opponent) };
                if own + opponent > 0 {
                    largest = largest.max((table.value(position).unwrap() - naive.value(position)).abs());
                }
            }
        }
        assert!(largest < tolerance, "{checkers} checkers, {precision:?}: {largest}");
    }
}

/// All values of a table, as bits.
fn bits(table: &Table) -> Vec<u64> {
    let sides = rank::sides(table.checkers());
    let all = (1..sides).flat_map(|own| (1..sides).map(move |opponent| (own, opponent)));
    let value = |(own, opponent)| {
        table
            .value(Position { own: Side::of_rank(own), opponent: Side::of_rank(opponent) })
            .unwrap()
            .to_bits()
    };
    all.map(value).collect()
}

/// The memory of a solved table.
fn memory(table: &Table) -> &[u8] {
    let Storage::Memory(map, start) = &table.storage else { unreachable!("it was solved") };
    &map[*start..][..table.bytes() as usize]
}

#[test]
fn tables_are_the_same_on_every_path_and_number_of_threads() {
    for precision in [Precision::Bits16, Precision::Bits32, Precision::Bits64] {
        // From 8 checkers on the work is shared.
        let checkers = if precision == Precision::Bits16 { 8 } else { 5 };
        let plain = Settings { precision, threads: 1, isa: Isa::Portable, ..Settings::new(checkers) };
        let expected = solve(Settings { shorten: Some(false), ..plain });
        for isa in Isa::available() {
            for threads in [1, 3] {
                for shorten in [true, false] {
                    let table = solve(Settings { isa, threads, shorten: Some(shorten), ..plain });
                    assert!(
                        memory(&table) == memory(&expected),
                        "{precision:?} {isa:?} {threads} threads, shorten {shorten}"
                    );
                }
            }
        }
    }
}

#[test]
fn floats_are_the_same_with_any_number_of_threads() {
    let one = Settings { precision: Precision::Bits32, threads: 1, ..Settings::new(8) };
    let errors = solve(one).compare(&solve(Settings { threads: 3, ..one })).unwrap();
    assert_eq!(errors.max, 0.0);
}

/// Solves in 16 bits over short lists with claims guessed from so many lines of columns; gives the values, and how many
/// claims were made.
fn solve_by_claims(checkers: u8, sample: usize) -> (Vec<i16>, usize) {
    let (order, moves) = order_and_moves(checkers, true);
    let rows = order.sides.len();
    let mut lines = vec![Line([0; LANES]); Grid::<i16>::bytes(rows) / size_of::<Line>()];
    let table = Grid::<i16>::new(lines.as_mut_ptr().cast(), rows);
    let method = Method { isa: Isa::detect(), shorten: true, sample };
    // SAFETY: the lines are as many as the table has, and nobody else's.
    let claims = unsafe { solve_short(table, &order, &moves, method, &Team::new(2).unwrap(), &mut |_| {}) };
    (lines.iter().flat_map(|line| line.0).collect(), claims)
}

#[test]
fn claims_that_are_guessed_badly_change_nothing_but_the_time() {
    let (expected, few_fail) = solve_by_claims(8, SAMPLE);
    for sample in [1, 2] {
        let (values, many_fail) = solve_by_claims(8, sample);
        assert!(values == expected, "{sample} lines");
        // More of them are guessed, and withdrawn, again and again.
        assert!(many_fail > few_fail, "{many_fail} {few_fail}");
    }
    let full = solve(Settings { shorten: Some(false), ..Settings::new(9) });
    let short = solve(Settings { shorten: Some(true), ..Settings::new(9) });
    let errors = full.compare(&short).unwrap();
    assert_eq!((errors.rows, errors.max), (5004 * 5004, 0.0));
}

#[test]
fn claims_shorten_lists_to_a_third_and_less() {
    let (order, moves) = order_and_moves(9, true);
    let table = solve(Settings::new(9));
    let Storage::Memory(map, start) = &table.storage else { unreachable!("it was solved") };
    // Read only.
    let grid = Grid::<i16>::new(map[*start..].as_ptr().cast_mut().cast(), table.rows);
    let mut dominance = Dominance::new(&order, &moves, SAMPLE);
    for level in 1..order.levels.len() - 1 {
        let new = dominance.add_level(level, grid, |line| line);
        dominance.accept(&new);
    }
    let full: usize = (order.levels[1]..order.sides.len())
        .flat_map(|row| (0..ROLLS.len()).map(move |roll| (row, roll)))
        .map(|(row, roll)| moves.list(row, roll).len())
        .sum();
    assert!(3 * dominance.kept_in_all() < full, "{} of {full}", dominance.kept_in_all());
}

#[test]
fn rows_and_lists_of_fifteen_checkers_fit_into_sixteen_bits() {
    let (order, moves) = order_and_moves(15, false);
    assert!(order.sides.len() < usize::from(u16::MAX));
    let longest = (0..order.sides.len())
        .map(|row| (0..ROLLS.len()).map(|roll| moves.list(row, roll).len()).sum::<usize>())
        .max();
    assert!(longest < Some(usize::from(u16::MAX)));
}

#[test]
fn memory_that_is_short_is_named_before_anything_is_done() {
    check_memory(14, Precision::Bits16, Some(3_300_000_000)).unwrap();
    check_memory(15, Precision::Bits64, None).unwrap();
    let error = check_memory(14, Precision::Bits64, Some(8_000_000_000)).unwrap_err().to_string();
    assert_eq!(
        error,
        "a table of 14 checkers in 64 bits needs 12.81 GB of memory, but 8.00 GB are free; use fewer checkers, 16 \
         bits or free memory"
    );
}

#[test]
fn the_smallest_file_that_will_do_is_found() {
    let folder = tempfile::tempdir().unwrap();
    for (checkers, precision) in [(4, Precision::Bits16), (3, Precision::Bits64)] {
        let table = solve(Settings { precision, ..Settings::new(checkers) });
        table.save(&usual_file(folder.path(), checkers)).unwrap();
    }
    let found = |checkers, least| {
        let settings = Settings { precision: least, ..Settings::new(checkers) };
        let (table, source) = find(None, folder.path(), least, settings, || (), &mut |_| {}).unwrap();
        (table.checkers(), table.precision(), matches!(source, Source::Solved(_)))
    };
    assert_eq!(found(2, Precision::Bits16), (3, Precision::Bits64, false));
    assert_eq!(found(4, Precision::Bits16), (4, Precision::Bits16, false));
    assert_eq!(found(4, Precision::Bits32), (4, Precision::Bits32, true));
    assert_eq!(found(5, Precision::Bits16), (5, Precision::Bits16, true));
    let file = usual_file(folder.path(), 3);
    let error = find(Some(&file), folder.path(), Precision::Bits16, Settings::new(4), || (), &mut |_| {});
    assert!(error.unwrap_err().to_string().contains("at most 3 checkers and 4 are needed"));
}

#[test]
fn the_float_code_gives_the_same_sixteen_bits() {
    let (order, moves) = order_and_moves(5, false);
    let rows = order.sides.len();
    let mut lines = vec![Line([0; LANES]); Grid::<i16>::bytes(rows) / size_of::<Line>()];
    let grid = Grid::<i16>::new(lines.as_mut_ptr().cast(), rows);
    let team = Team::new(1).unwrap();
    // SAFETY: the lines are as many as the table has, and nobody else's.
    unsafe { solve_plain(grid, &order, &moves, Isa::detect(), &team, &mut |_| {}) };
    let (expected, _) = solve_by_claims(5, SAMPLE);
    assert!(lines.iter().flat_map(|line| line.0).eq(expected));
}

#[test]
fn sixteen_bits_are_within_their_bounds_of_the_exact_values() {
    let errors = solve(Settings::new(7))
        .compare(&solve(Settings { precision: Precision::Bits64, ..Settings::new(7) }))
        .unwrap();
    assert!(errors.max <= 5e-5 && errors.rms() <= 1.2e-5, "{errors:?}");
}

#[test]
fn reference_values_are_met() {
    let table = solve(Settings { precision: Precision::Bits64, ..Settings::new(7) });
    let sixteen = solve(Settings::new(8));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/bearoff-reference.csv");
    let rows = labelled::read(&path).unwrap();
    assert_eq!(rows.len(), 30);
    let mut met = (0, 0);
    for Labelled { position, value, .. } in rows {
        if position.checkers() <= table.checkers() {
            met.0 += 1;
            assert!((table.value(position).unwrap() - value).abs() < 1e-9, "{position}");
        }
        if position.checkers() <= sixteen.checkers() {
            met.1 += 1;
            assert!((sixteen.value(position).unwrap() - value).abs() < 5e-5, "{position}");
        }
    }
    // Positions of more checkers: `adept oracle verify --csv datasets/bearoff-reference.csv`.
    assert_eq!(met, (19, 20));
}

/// "Every checker at least as far" is no reason to leave a move out.
#[test]
fn dominance_by_points_is_wrong() {
    let table = solve(Settings { precision: Precision::Bits64, ..Settings::new(5) });
    let opponent = side("2,0,0,0,0,2");
    let after = |own| -table.value(Position { own: opponent, opponent: side(own) }).unwrap();
    let (far, near) = (after("2,0,2,0,0,0"), after("1,1,2,0,0,0"));
    assert!((far - 0.2214).abs() < 5e-5 && (near - 0.4047).abs() < 5e-5, "{far} {near}");
    // A position whose win probability such pruning would put at .75059.
    let value = table.value(position("2,0,2,1,0,0/5,0,0,0,0,0")).unwrap();
    assert!(((1.0 + value) / 2.0 - 0.75559).abs() < 5e-6, "{value}");
}

#[test]
fn moves_come_best_first_with_exact_values() {
    let table = solve(Settings::new(4));
    let decision =
        DicePosition { position: position("1,0,1,0,0,2/0,2,0,0,1,0"), roll: "31".parse().unwrap() };
    let mut moves = Vec::new();
    table.moves(decision, &mut moves).unwrap();
    let mut sides: Vec<Side> = moves.iter().map(|&(side, _)| side).collect();
    assert!(moves.is_sorted_by(|a, b| a.1 >= b.1));
    sides.sort_unstable();
    let mut expected = Vec::new();
    decision.afterstates(&mut expected);
    assert_eq!(sides, expected);
    for (side, value) in moves {
        assert_eq!(value, -table.value(decision.after(side)).unwrap());
    }
}

#[test]
fn what_a_table_does_not_hold_is_refused() {
    let table = solve(Settings::new(3));
    let error = table.value(position("4,0,0,0,0,0/1,0,0,0,0,0")).unwrap_err().to_string();
    assert_eq!(error, "4,0,0,0,0,0 has 4 checkers, but the table allows at most 3; solve one for 4");
    assert!(matches!(table.value(Position::default()), Err(TableError::BothEmpty)));
    for checkers in [0, 16] {
        let result = Table::solve(Settings::new(checkers), &mut |_| {});
        assert!(matches!(result, Err(TableError::Checkers(n)) if n == checkers));
    }
}

#[test]
fn what_is_no_number_is_above_any_tolerance() {
    let mut errors = super::TableErrors::default();
    [0.5, f64::NAN, 0.25].into_iter().for_each(|difference| errors.add(difference));
    let both = super::TableErrors { rows: 1, max: 1.0, squares: 1.0 }.and(errors);
    assert!(errors.max.is_nan() && both.max.is_nan());
}

#[test]
fn lookups_come_from_many_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (table, mapped) = saved(folder.path(), 5);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(bits(&mapped) == bits(&table)));
        }
    });
}

fn saved(folder: &Path, checkers: u8) -> (Table, Table) {
    let table = solve(Settings::new(checkers));
    let path = folder.join("t.table");
    table.save(&path).unwrap();
    (table, Table::open(&path).unwrap())
}

#[test]
fn files_give_back_what_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::Bits16, Precision::Bits32, Precision::Bits64] {
        let table = solve(Settings { precision, ..Settings::new(4) });
        let path = folder.path().join("sub").join(format!("{}.table", precision.bits()));
        table.save(&path).unwrap();
        let mapped = Table::open(&path).unwrap();
        mapped.verify().unwrap();
        assert_eq!((mapped.checkers(), mapped.precision(), mapped.pairs()), (4, precision, 209 * 209));
        assert!(bits(&mapped) == bits(&table));
    }
}

#[test]
fn damage_is_named_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (_, mapped) = saved(folder.path(), 6);
    drop(mapped);
    let path = folder.path().join("t.table");
    let whole = std::fs::read(&path).unwrap();
    let open = |bytes: &[u8]| -> Result<(), String> {
        std::fs::write(&path, bytes).unwrap();
        let table = Table::open(&path).map_err(|e| e.to_string())?;
        table.verify().map_err(|e| e.to_string())
    };
    let place = |message: String| message.replace(&path.display().to_string(), "FILE");
    let mut messages = Vec::new();
    for at in [3, 20, 60, 105, 120, 2000, 4097, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        messages.push(format!("byte {at}: {}", place(open(&damaged).unwrap_err())));
    }
    for length in [0, 50, 110, 5000, whole.len() - 1] {
        messages.push(format!("cut at {length}: {}", open(&whole[..length]).map_err(place).unwrap_err()));
    }
    open(&whole).unwrap();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn headers_that_make_no_sense_are_refused_even_with_a_checksum() {
    let folder = tempfile::tempdir().unwrap();
    drop(saved(folder.path(), 3));
    let path = folder.path().join("t.table");
    let whole = std::fs::read(&path).unwrap();
    // Checkers, bits, rows, sides, bytes of a block, and where things start.
    for field in 1..9 {
        for value in [0, 1, 63, 1 << 20, u64::MAX - 63] {
            let mut bytes = whole.clone();
            let at = 16 + 8 * field;
            if bytes[at..at + 8] == value.to_le_bytes() {
                continue;
            }
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..104]);
            bytes[104..112].copy_from_slice(&sum.to_le_bytes());
            std::fs::write(&path, &bytes).unwrap();
            let error = Table::open(&path).unwrap_err().to_string();
            assert!(error.contains("is damaged"), "field {field} {value}: {error}");
        }
    }
}

#[test]
fn a_damaged_block_is_noticed_when_it_is_first_read_and_no_earlier() {
    let folder = tempfile::tempdir().unwrap();
    let (table, mapped) = saved(folder.path(), 6);
    drop(mapped);
    let path = folder.path().join("t.table");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let mapped = Table::open(&path).unwrap();
    let (mut fine, mut refused) = (0, 0);
    for own in 1..rank::sides(6) {
        let position = Position { own: Side::of_rank(own), opponent: side("1,0,0,0,0,0") };
        match mapped.value(position) {
            Ok(value) => {
                assert_eq!(value, table.value(position).unwrap());
                fine += 1;
            }
            Err(TableError::Damaged { block, blocks, .. }) => {
                assert_eq!(block, blocks - 1);
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(fine > 0 && refused > 0, "{fine} {refused}");
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let table = solve(Settings::new(2));
    let taken = folder.path().join("folder");
    std::fs::create_dir_all(taken.join("inside")).unwrap();
    assert!(matches!(table.save(&taken), Err(TableError::File { path, .. }) if path == taken));
    let names = |path: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    assert_eq!(names(folder.path()), [taken]);
}

#[test]
fn gnubg_files_hold_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gnubg_ts.bd");
    let table = solve(Settings { precision: Precision::Bits64, ..Settings::new(5) });
    table.export_to_gnubg(4, &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(&bytes[..40], b"gnubg-TS-06-04-0xxxxxxxxxxxxxxxxxxxxxxx\n");
    assert_eq!(bytes.len(), 88_240);
    let file = GnubgTable::open(&path).unwrap();
    let errors = table.compare_with_gnubg(&file).unwrap();
    assert_eq!(errors.rows, 209 * 209);
    assert!(errors.max <= 1.5261e-5, "{errors:?}");
    assert_eq!(file.value(position("5,0,0,0,0,0/1,0,0,0,0,0")), None);
    assert!(table.export_to_gnubg(6, &path).is_err());
    std::fs::write(&path, &bytes[..5000]).unwrap();
    let error = GnubgTable::open(&path).unwrap_err().to_string();
    assert!(error.ends_with("5000 bytes instead of the 88240 that its header says"), "{error}");
}

/// Any number of ranks writes the bytes that one process writes.
#[test]
fn ranks_write_the_bytes_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    for (checkers, precision, shorten, sizes) in [
        (3, Precision::Bits16, false, 1..=5),
        (6, Precision::Bits16, true, 2..=4),
        (5, Precision::Bits32, false, 2..=3),
        (4, Precision::Bits64, false, 2..=3),
    ] {
        let settings = Settings { precision, shorten: Some(shorten), threads: 1, ..Settings::new(checkers) };
        let one = folder.path().join("one");
        Table::solve(settings, &mut |_| {}).unwrap().0.save(&one).unwrap();
        let expected = std::fs::read(&one).unwrap();
        for size in sizes {
            let path = folder.path().join("several");
            let solve = |ranks: &adept_ranks::Ranks| {
                Table::solve_spread(settings, ranks, Some(&path), &mut |_| {}).unwrap().own_bytes
            };
            let ranks = adept_ranks::threads(size);
            let shares: Vec<u64> = std::thread::scope(|scope| {
                let all: Vec<_> = ranks.iter().map(|ranks| scope.spawn(|| solve(ranks))).collect();
                all.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(std::fs::read(&path).unwrap() == expected, "{checkers} checkers, {size} ranks");
            let table: u64 = shares.iter().sum();
            assert!(shares.iter().all(|share| share * size as u64 <= table * 2), "{shares:?}");
            Table::open(&path).unwrap().verify().unwrap();
        }
    }
}
