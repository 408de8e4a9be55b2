//! Joins modules of JavaScript into one file.
//!
//! It reads lines, and not the language: imports and exports are lines such as `import { a, b } from './c.js';` and
//! `export const a = 1;`. Each module keeps its other names to itself in a function of its own.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A module of JavaScript.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Module {
    /// The name of its file.
    pub(crate) name: &'static str,
    /// What is in it.
    pub(crate) text: &'static str,
}

impl Module {
    /// The names that it imports, with `, ` between them, and the module that has them.
    pub(crate) fn imports(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.text.lines().filter_map(imported)
    }

    /// The names that it exports.
    pub(crate) fn exports(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text.lines().filter_map(exported)
    }
}

fn imported(line: &str) -> Option<(&str, &str)> {
    let (names, from) = line.strip_prefix("import { ")?.split_once(" } from './")?;
    Some((names, from.strip_suffix("';")?))
}

fn exported(line: &str) -> Option<&str> {
    let declared = line.strip_prefix("export ")?;
    let words = ["const ", "function ", "async function ", "class "];
    let name = words.iter().find_map(|word| declared.strip_prefix(word))?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next()
}

/// Modules in one file.
#[derive(Debug)]
pub(crate) struct Joined<'a> {
    /// They come after those that they import.
    modules: Vec<Module>,
    /// A script that has run before, from which they take what it has.
    base: Option<&'a Joined<'a>>,
}

/// Where a script leaves what its modules export.
const SHARED: &str = "globalThis.adept";

impl<'a> Joined<'a> {
    /// The module called `name`, and those of `all` that it needs and `base` does not have.
    pub(crate) fn new(all: &[Module], name: &'static str, base: Option<&'a Self>) -> Self {
        let mut joined = Self { modules: Vec::new(), base };
        joined.add(all, name, &mut BTreeSet::new());
        joined
    }

    fn add(&mut self, all: &[Module], name: &'static str, seen: &mut BTreeSet<&'static str>) {
        if self.base.is_some_and(|base| base.has(name)) || !seen.insert(name) {
            return;
        }
        let Some(module) = all.iter().find(|module| module.name == name) else { return };
        for (_, from) in module.imports() {
            self.add(all, from, seen);
        }
        self.modules.push(*module);
    }

    fn has(&self, name: &str) -> bool {
        self.modules.iter().any(|module| module.name == name)
    }

    /// A module that exports what its modules do, and takes what it needs from the script that has run before.
    pub(crate) fn module(&self) -> String {
        let mut text = String::new();
        if let Some(base) = self.base {
            let imports = self.modules.iter().flat_map(Module::imports).filter(|(_, from)| base.has(from));
            let names: BTreeSet<&str> = imports.flat_map(|(names, _)| names.split(", ")).collect();
            if !names.is_empty() {
                let _ = writeln!(text, "const {{ {} }} = {SHARED};", list(names));
            }
        }
        text.push_str(&self.script());
        let exports: Vec<&str> = self.exports().collect();
        if !exports.is_empty() {
            let _ = writeln!(text, "export {{ {} }};", list(exports));
        }
        text
    }

    /// A script that leaves what its modules export for modules that come later.
    pub(crate) fn shared_script(&self) -> String {
        // The last module begins the page, which may load others at once.
        let (last, others) =
            self.modules.split_last().map_or((None, &[][..]), |(last, others)| (Some(last), others));
        let script: String = others.iter().map(scope).collect();
        let exports = list(others.iter().flat_map(Module::exports));
        format!("{script}{SHARED} = {{ {exports} }};\n{}", last.map(scope).unwrap_or_default())
    }

    fn exports(&self) -> impl Iterator<Item = &'static str> {
        self.modules.iter().flat_map(Module::exports)
    }

    /// A script that imports and exports nothing.
    pub(crate) fn script(&self) -> String {
        self.modules.iter().map(scope).collect()
    }
}

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// A module as a function that is called at once, and returns what the module exports.
fn scope(module: &Module) -> String {
    let exports = list(module.exports());
    let (names, returned) = match exports.is_empty() {
        true => (String::new(), String::new()),
        false => (format!("const {{ {exports} }} = "), format!("return {{ {exports} }};\n")),
    };
    let lines = module.text.lines().filter(|line| imported(line).is_none());
    let body: String = lines.flat_map(|line| [line.strip_prefix("export ").unwrap_or(line), "\n"]).collect();
    format!("{names}(function () {{\n{body}{returned}}})();\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Module] = &[
        Module {
            name: "app.js",
            text: "import { a } from './a.js';\nimport { B, c } from './b.js';\nconst own = a;\nc(new B(own));\n",
        },
        Module { name: "a.js", text: "const own = 1;\nexport const a = own;\n" },
        Module {
            name: "b.js",
            text: "import { a } from './a.js';\n\nexport class B {}\nexport async function c() { return a; }\nlet kept = 0;\n",
        },
        Module {
            name: "d.js",
            text: "import { e } from './e.js';\nimport { a } from './a.js';\nexport const d = a + e;\n",
        },
        Module { name: "e.js", text: "import { c } from './b.js';\nexport function e() { c(); }\n" },
    ];

    #[test]
    fn modules_come_after_those_that_they_import() {
        let app = Joined::new(ALL, "app.js", None);
        let wanted = "const { a } = (function () {\nconst own = 1;\nconst a = own;\nreturn { a };\n})();\n\
                      const { B, c } = (function () {\n\nclass B {}\nasync function c() { return a; }\nlet kept = 0;\n\
                      return { B, c };\n})();\n\
                      (function () {\nconst own = a;\nc(new B(own));\n})();\n";
        assert_eq!(app.script(), wanted);
        assert_eq!(app.module(), format!("{wanted}export {{ a, B, c }};\n"));
        let (others, last) = wanted.split_at(wanted.rfind("(function").unwrap());
        assert_eq!(app.shared_script(), format!("{others}globalThis.adept = {{ a, B, c }};\n{last}"));
    }

    #[test]
    fn a_second_file_imports_what_the_first_has() {
        let app = Joined::new(ALL, "app.js", None);
        let wanted = "const { a, c } = globalThis.adept;\n\
                      const { e } = (function () {\nfunction e() { c(); }\nreturn { e };\n})();\n\
                      const { d } = (function () {\nconst d = a + e;\nreturn { d };\n})();\n\
                      export { e, d };\n";
        assert_eq!(Joined::new(ALL, "d.js", Some(&app)).module(), wanted);
    }

    /// Modules may import each other.
    #[test]
    fn joining_ends() {
        let all = &[
            Module { name: "a.js", text: "import { b } from './b.js';\nexport const a = () => b;\n" },
            Module { name: "b.js", text: "import { a } from './a.js';\nexport const b = () => a;\n" },
        ];
        let names: Vec<_> = Joined::new(all, "a.js", None).modules.iter().map(|module| module.name).collect();
        assert_eq!(names, ["b.js", "a.js"]);
    }

    #[test]
    fn only_whole_lines_are_read() {
        assert_eq!(imported("import { a, b } from './c-d.js';"), Some(("a, b", "c-d.js")));
        for line in [
            "import('./a.js')",
            "  import { a } from './a.js';",
            "import a from './a.js';",
            "import { a } from 'a';",
        ] {
            assert_eq!(imported(line), None, "{line}");
        }
        assert_eq!(exported("export const a = 1;"), Some("a"));
        assert_eq!(exported("export async function load(x) {"), Some("load"));
        assert_eq!(exported("export class A_1 extends B {"), Some("A_1"));
        for line in ["export default a;", "export { a };", "  export const a = 1;", "const exported = 1;"] {
            assert_eq!(exported(line), None, "{line}");
        }
    }
}
