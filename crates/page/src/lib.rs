//! The page that adept serves, and its reports and reviews in one file each: HTML, CSS and modules of JavaScript, without a build.
//!
//! Browsers are slow to fetch and parse many small files. So the modules that belong together are joined into one file when the program
//! first needs it.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod join;

use flate2::Compression;
use flate2::write::GzEncoder;
use join::{Joined, Module};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::sync::LazyLock;

/// The modules of folders, by name.
macro_rules! modules {
    ($($folder:literal: $($name:literal),* $(,)?;)*) => {
        &[$($(Module { name: $name, text: include_str!(concat!("../", $folder, "/", $name)) },)*)*]
    };
}

/// All modules.
const MODULES: &[Module] = modules![
    "page":
        "api.js",
        "app.js",
        "backgammon.js",
        "board.js",
        "boards.js",
        "cards.js",
        "cells.js",
        "chart.js",
        "checkers.js",
        "dice.js",
        "die.js",
        "documented.js",
        "dom.js",
        "editor.js",
        "frame.js",
        "games.js",
        "glide.js",
        "grid.js",
        "ids.js",
        "picture.js",
        "play.js",
        "position.js",
        "reviewing.js",
        "reviews.js",
        "runs.js",
        "saves.js",
        "settings.js",
        "stakes.js",
        "start-run.js",
        "start.js",
        "tables.js",
        "thoughts.js";
    "report":
        "parts.js",
        "report.js",
        "review.js";
];

/// The module that begins the page. It is in the page itself, with all that it imports: a browser on a slow line waits for one answer.
const APP: &str = "app.js";

/// The modules that [`APP`] loads when their views are shown. What they import is in one file with them, or in the page.
const VIEWS: [&str; 5] = ["documented.js", "games.js", "position.js", "reviews.js", "runs.js"];

/// A file as it is served.
pub struct File {
    /// Its name.
    pub name: &'static str,
    /// Its content.
    pub text: String,
    /// The same, compressed by gzip.
    pub gzip: Vec<u8>,
    /// A name of this content: files with the same tag are the same.
    pub tag: String,
}

impl File {
    fn new(name: &'static str, text: String) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        // Writing to memory does not fail.
        let gzip = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self { name, tag: format!("{:016x}", hasher.finish()), text, gzip }
    }
}

/// The files that the page loads later, by name. Every module is in one of them or in the page, so that its state is there once.
pub static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let app = Joined::new(MODULES, APP, None);
    VIEWS.map(|name| File::new(name, Joined::new(MODULES, name, Some(&app)).module())).into()
});

/// The frame of the page, and what it loads where it is served as it is.
const FRAME: &str = include_str!("../page/index.html");
const LOOKS: &str = "<link rel=\"stylesheet\" href=\"/page/style.css\">";
const SCRIPT: &str = "<script type=\"module\" src=\"/page/app.js\"></script>";

/// The page itself, with its looks and its script.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    // In the page, paths are relative to its address.
    let script = Joined::new(MODULES, APP, None).shared_script().replace("import('./", "import('/page/");
    FRAME
        .replace(LOOKS, &format!("<style>{STYLE}</style>"))
        .replace(SCRIPT, &format!("<script type=\"module\">{script}</script>"))
});

/// The page itself, with the list of games as JSON, so that the first view asks for nothing more; or with none.
pub fn index(games: &str) -> File {
    // In a script it contains no `<`, so it cannot end it.
    let text = PAGE.replace(GAMES, &GAMES.replace("><", &format!(">{}<", games.replace('<', "\\u003c"))));
    File::new("index.html", text)
}

/// The place of the list of games in [`FRAME`].
const GAMES: &str = "<script type=\"application/json\" id=\"games\"></script>";

/// The scripts in the page itself, which a content security policy allows by their hashes.
pub fn scripts() -> [&'static str; 2] {
    [between("<script>", "</script>"), between("<script type=\"module\">", "</script>")]
}

/// The looks in the page itself.
pub fn looks() -> &'static str {
    between("<style>", "</style>")
}

fn between(begin: &str, end: &str) -> &'static str {
    let rest = PAGE.split_once(begin).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or("", |(inner, _)| inner)
}

/// The looks of the page and of reports.
const STYLE: &str = include_str!("../page/style.css");

/// A document in one file, which draws its data and loads nothing.
struct Document {
    /// The HTML, with comments in the places of the looks, the data and the script.
    html: &'static str,
    /// The module that draws the data.
    script: &'static str,
}

const REPORT: Document = Document { html: include_str!("../report/report.html"), script: "report.js" };

const REVIEW: Document = Document { html: include_str!("../report/review.html"), script: "review.js" };

impl Document {
    fn script(&self) -> String {
        Joined::new(MODULES, self.script, None).script()
    }

    /// The document with these data, as JSON.
    fn with(&self, data: &str) -> String {
        // The data comes last, because it may hold anything. It contains no `<`, so it cannot end the script.
        self.html
            .replace("/* looks */", STYLE)
            .replace("/* script */", &self.script())
            .replace("/* data */", &data.replace('<', "\\u003c"))
    }
}

/// A report of runs as one HTML file, from its data as JSON.
pub fn report(data: &str) -> String {
    REPORT.with(data)
}

/// A review of games as one HTML file, from its data as JSON.
pub fn review(data: &str) -> String {
    REVIEW.with(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::Read;

    /// Bytes that the page may have compressed, with all its views, and without those that are loaded later.
    const LARGEST: usize = 200_000;
    const FIRST: usize = 60_000;

    fn text(name: &str) -> &'static str {
        if name == APP {
            return scripts()[1];
        }
        FILES
            .iter()
            .find(|file| file.name == name)
            .map(|file| file.text.as_str())
            .expect("a file of the page")
    }

    /// The scripts of the page: the one in it, and those that are loaded later.
    fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
        let later = FILES.iter().map(|file| (file.name, &*file.text));
        std::iter::once((APP, scripts()[1])).chain(later)
    }

    /// The names in the braces of the lines that begin and end so.
    fn braced<'a>(text: &'a str, begin: &str, end: &str) -> BTreeSet<&'a str> {
        let inner = text.lines().filter_map(|line| line.strip_prefix(begin)?.strip_suffix(end));
        inner.flat_map(|names| names.split(", ")).collect()
    }

    /// Joining reads lines, so all imports and exports must be lines of the kinds that it knows.
    #[test]
    fn imports_name_what_modules_export() {
        let known: BTreeMap<&str, BTreeSet<&str>> =
            MODULES.iter().map(|module| (module.name, module.exports().collect())).collect();
        for Module { name, text } in MODULES {
            let module = Module { name, text };
            let count = |word: &str| text.lines().filter(|line| line.trim_start().starts_with(word)).count();
            assert_eq!(module.imports().count(), count("import"), "imports of {name}");
            assert_eq!(module.exports().count(), count("export"), "exports of {name}");
            for (names, from) in module.imports() {
                let exported = known.get(from).unwrap_or_else(|| panic!("{name} imports from {from}"));
                for wanted in names.split(", ") {
                    assert!(exported.contains(wanted), "{name} imports {wanted} from {from}");
                }
            }
        }
    }

    /// Exports of different modules meet in one file.
    #[test]
    fn no_two_modules_export_the_same_name() {
        let mut all = BTreeMap::new();
        for module in MODULES {
            for name in module.exports() {
                let other = all.insert(name, module.name);
                assert_eq!(other, None, "{name} of {}", module.name);
            }
        }
        assert!(all.len() > 50 && all["lineChart"] == "chart.js", "{all:?}");
    }

    /// A module that was loaded twice would have its state twice.
    #[test]
    fn every_module_is_in_one_file() {
        let [report, review] = [REPORT, REVIEW].map(|document| document.script());
        for module in MODULES {
            let first = module.text.lines().next().expect("a line that says what the module is for");
            assert!(first.starts_with("// "), "{}", module.name);
            let times: usize = files().map(|(_, text)| text.matches(first).count()).sum();
            let in_documents = [&report, &review].map(|script| script.matches(first).count());
            let wanted = match module.name {
                "parts.js" => (0, [1, 1]),
                "report.js" => (0, [1, 0]),
                "review.js" => (0, [0, 1]),
                // It keeps nothing, and two views have it.
                "chart.js" => (2, [1, 1]),
                "dom.js" | "tables.js" => (1, [1, 1]),
                "backgammon.js" | "board.js" | "boards.js" | "cards.js" | "checkers.js" | "dice.js"
                | "die.js" | "glide.js" | "grid.js" | "reviewing.js" | "settings.js" | "stakes.js" => {
                    (1, [0, 1])
                }
                _ => (1, [0, 0]),
            };
            assert_eq!((times, in_documents), wanted, "{}", module.name);
        }
    }

    #[test]
    fn every_import_is_reached() {
        let app = braced(text(APP), "globalThis.adept = { ", " };");
        for (file, text) in files() {
            let from_app = braced(text, "const { ", " } = globalThis.adept;");
            assert!(from_app.is_subset(&app) && from_app.is_empty() == (file == APP), "{file}: {from_app:?}");
            assert_eq!(text.lines().filter(|line| line.starts_with("import")).count(), 0, "{file}");
            let own = braced(text, "const { ", " } = (function () {");
            let left = if file == APP { app.clone() } else { braced(text, "export { ", " };") };
            assert_eq!(own, left, "{file}");
            // Each module in it finds what it imports, and finds it before it begins.
            for module in MODULES {
                let first = module.text.lines().next().expect("a line");
                let Some(begin) = text.find(first) else { continue };
                let before = braced(&text[..begin], "const { ", " } = (function () {");
                for wanted in module.imports().flat_map(|(names, _)| names.split(", ")) {
                    assert!(
                        before.contains(wanted) || from_app.contains(wanted),
                        "{wanted} in {}",
                        module.name
                    );
                }
            }
        }
    }

    #[test]
    fn views_that_are_loaded_later_are_files() {
        let all = files().flat_map(|(_, text)| text.split("import('/page/").skip(1));
        let loaded: BTreeSet<&str> = all.filter_map(|rest| rest.split('\'').next()).collect();
        assert_eq!(loaded, BTreeSet::from(VIEWS));
        for name in VIEWS {
            assert!(text(name).contains("View"), "{name}");
        }
    }

    #[test]
    fn the_page_loads_few_files_and_is_small() {
        assert!(FRAME.contains(LOOKS) && FRAME.contains(SCRIPT) && FRAME.contains(GAMES));
        assert_eq!(PAGE.matches("\"/page/").count(), 0);
        // What is in the page cannot end its element.
        assert_eq!((PAGE.matches("</script>").count(), PAGE.matches("</style>").count()), (3, 1));
        assert!(!PAGE.contains("<!--"));
        let later: usize = FILES.iter().map(|file| file.gzip.len()).sum();
        let first = index("").gzip.len();
        assert!(first <= FIRST && first + later <= LARGEST, "{first} bytes at first, {later} later");
    }

    #[test]
    fn files_are_told_apart_by_their_content_and_inflate_to_it() {
        let tags: BTreeSet<&str> = FILES.iter().map(|file| &*file.tag).collect();
        assert_eq!(tags.len(), FILES.len());
        for file in &*FILES {
            let mut text = String::new();
            flate2::read::GzDecoder::new(&*file.gzip).read_to_string(&mut text).expect("gzip");
            assert_eq!(text, file.text, "{}", file.name);
            assert!(file.gzip.len() < file.text.len() / 2, "{}: {} bytes", file.name, file.gzip.len());
        }
    }

    #[test]
    fn the_page_holds_the_list_of_games_and_one_script_of_its_own() {
        let list = r#"{"games":[{"name":"</script><b>"}]}"#;
        let page = index(list).text;
        let (_, rest) = page.split_once(GAMES.trim_end_matches("</script>")).expect("the place of the list");
        let (held, _) = rest.split_once("</script>").expect("its end");
        assert_eq!(held.replace("\\u003c", "<"), list);
        assert_eq!(index("").text, *PAGE);
        // The hashes of these are in the policy of the page.
        assert!(scripts()[0].contains("globalThis.early") && scripts()[1].contains("announce"));
        assert_eq!(looks(), STYLE);
    }
}
