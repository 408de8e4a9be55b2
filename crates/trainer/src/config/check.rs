//! What no parser can see: settings that cannot work, alone or together.

use super::{Config, Examples, Games, Method, Next, Rewards, Rules, SELF, Schedule, Shape, Suite, TraceKind};
use adept_arena::AgentSpec;
use adept_game::GameInfo;
use adept_model::architecture::Experts;
use adept_model::names;
use adept_model::program::Activation;
use adept_model::{Architecture, Channel, Engine, ModelError, Optimiser};

/// The dotted path of a setting, and what is wrong with it.
pub type Fault = (String, String);

/// What every file has.
pub fn name_and_seed(name: &str, seed: u64) -> Result<(), Fault> {
    let fail = |path: &str, message: String| Err((path.to_string(), message));
    let named = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(named) {
        return fail(
            "name",
            "a name consists of letters, digits, `-`, `_` and `.`, and does not start with a dot".into(),
        );
    }
    if i64::try_from(seed).is_err() {
        return fail("seed", format!("must be at most {}, found {seed}", i64::MAX));
    }
    Ok(())
}

/// The first setting that cannot work.
pub(super) fn check(config: &Config, games: &dyn Games) -> Result<(), Fault> {
    let fail = |path: &str, message: String| Err((path.to_string(), message));
    name_and_seed(&config.name, config.seed)?;
    let rules = games.rules(&config.game.rules).map_err(|e| ("game.rules".to_string(), e.to_string()))?;
    let game = &rules.info();
    let channels = channels(config, game, &*rules).map_err(|m| ("game.encoder".to_string(), m))?;
    let learn = &config.learn;
    let exact = if game.is_small { &["minimax", "optimal:…"][..] } else { &[] };
    let own = || game.scripts.iter().chain(&game.deliberators).map(|s| &*s.name);
    let agents: Vec<&str> = own().chain(["random"]).chain(exact.iter().copied()).collect();
    let known_agent = |text: &str, known: &[&str]| -> Result<(), String> {
        // A fault in the parameter of an agent with a checkpoint does not matter: a config has none.
        let mut spec = AgentSpec::parse(text).unwrap_or_else(|_| AgentSpec::Greedy(text.into()));
        if matches!(spec, AgentSpec::Minimax | AgentSpec::Optimal(_)) && !game.is_small {
            return Err(format!(
                "`{text}` must go through all that may happen, and {} is too large for that; there is {}",
                game.name,
                known.join(", ")
            ));
        }
        while let AgentSpec::Optimal(inner) = spec {
            spec = *inner;
        }
        match spec {
            AgentSpec::Random | AgentSpec::Minimax => Ok(()),
            AgentSpec::Named(name) if own().any(|known| known == name) => Ok(()),
            AgentSpec::Named(name) => {
                Err(format!("{} has no agent `{name}`{}", game.name, names::suggest(&name, known)))
            }
            _ => Err(format!(
                "`{text}` needs a checkpoint, which a config cannot name; there is {}",
                known.join(", ")
            )),
        }
    };
    if learn.against != SELF {
        let known = [&[SELF], &agents[..]].concat();
        known_agent(&learn.against, &known).map_err(|m| ("learn.against".to_string(), m))?;
    }
    for (i, agent) in learn.field.iter().flatten().enumerate().filter(|(_, agent)| *agent != SELF) {
        known_agent(agent, &agents).map_err(|m| (format!("learn.field.{i}"), m))?;
    }
    if learn.field.as_ref().is_some_and(|field| field.is_empty() || learn.against != SELF) {
        return fail("learn.field", "names at least one agent, in place of `against`".into());
    }
    for (i, agent) in config.evaluate.against.iter().flatten().enumerate() {
        known_agent(agent, &agents).map_err(|m| (format!("evaluate.against.{i}"), m))?;
    }
    if config.evaluate.against.as_ref().is_some_and(Vec::is_empty) {
        return fail("evaluate.against", "name at least one opponent, or leave it out".into());
    }
    for (path, count) in [
        ("learn.batch", Some(learn.batch)),
        ("evaluate.every", config.evaluate.every),
        ("evaluate.patience", config.evaluate.patience),
        ("checkpoints.every", config.checkpoints.every),
        ("checkpoints.milestones", config.checkpoints.milestones),
    ] {
        if count == Some(0) {
            return fail(path, "must be at least 1".into());
        }
    }
    method(config, game)?;
    suites(config, game)?;
    schedule("learn.lambda", &learn.lambda, 0.0, 1.0)?;
    schedule("learn.explore", &learn.explore, 0.0, 1.0)?;
    if let Some(temperature) = &learn.temperature {
        schedule("learn.temperature", temperature, 1e-6, 1e6)?;
    }
    if !(0.0..=1.0).contains(&learn.discount) {
        return fail("learn.discount", format!("must lie in 0..1, found {}", learn.discount));
    }
    let plain = learn.discount == 1.0 && learn.rewards == Rewards::Outcome && learn.next == Next::Highest;
    let plain = plain && learn.temperature.is_none() && learn.gap_discount.is_none();
    if !plain && (learn.traces == TraceKind::Online || learn.method != Method::Td) {
        return fail(
            "learn",
            "`discount`, `rewards`, `gap_discount`, `next` and `temperature` belong to the method `td` with returns computed \
             backwards: leave them out"
                .into(),
        );
    }
    schedule("learn.rate", &learn.rate, 0.0, 1e9)?;
    if learn.rate.range().1 == 0.0 {
        return fail("learn.rate", "is 0 throughout: nothing would be learned".into());
    }
    learn.optimiser.check().map_err(|(key, m)| (format!("learn.optimiser.{key}"), m))?;
    if matches!(config.architecture, Architecture::Lookup(_)) && learn.optimiser != Optimiser::default() {
        return fail("learn.optimiser", "a table learns by plain steps: leave `optimiser` out".into());
    }
    if learn.traces == TraceKind::Online {
        if matches!(config.architecture, Architecture::Hme(_)) {
            return fail("learn.traces", "online traces follow the gradient of the value, an HME learns by its likelihood: write `backward`, or take `meta_pi`".into());
        }
        if learn.batch > 1 {
            return fail("learn.batch", "online traces step at every move: leave `batch` out".into());
        }
        if learn.optimiser != Optimiser::default() {
            return fail("learn.optimiser", "online traces take plain steps: leave `optimiser` out".into());
        }
    }
    if !(2..=1_000_000).contains(&config.checkpoints.keep) {
        let message = "must lie in 2..1000000: a reader may hold on to the last while the next is written";
        return fail("checkpoints.keep", message.into());
    }
    compute(config)?;
    let outcome = match &config.architecture {
        Architecture::Lookup(lookup) => {
            adept_model::Table::new(lookup, &channels, learn.optimiser).map(|_| ())
        }
        network => adept_model::lower(network, &channels, 1).map(|_| ()),
    };
    match outcome {
        Ok(()) => Ok(()),
        Err(ModelError::Architecture { path, message }) => fail(&format!("architecture.{path}"), message),
        Err(other) => fail("architecture", other.to_string()),
    }
}

/// The channels of the encoder that a config names.
fn channels(config: &Config, game: &GameInfo, rules: &dyn Rules) -> Result<Vec<Channel>, String> {
    let name = config.game.encoder.as_deref();
    rules.channels(name).map_err(|error| match name {
        Some(name) if !name.contains(['+', ':']) => {
            let known: Vec<&str> = game.encoders.iter().map(|e| &*e.name).collect();
            format!("{} has no encoder `{name}`{}", game.name, names::suggest(name, &known))
        }
        _ => error.to_string(),
    })
}

/// Names of checkpoints have room for as many.
const MAX_LENGTH: u64 = 1_000_000_000_000;

/// What belongs to one method of learning and not to another.
fn method(config: &Config, game: &GameInfo) -> Result<(), Fault> {
    let (learn, fail) = (&config.learn, |path: &str, message: String| Err((path.to_string(), message)));
    let td = learn.method == Method::Td;
    let unit = learn.unit();
    let counts = [
        ("games", learn.games, "200_000"),
        ("samples", learn.samples, "1_000_000"),
        ("iterations", learn.iterations, "300"),
    ];
    let example = counts.iter().find(|c| c.0 == unit).map_or("", |c| c.2);
    if let Some((other, ..)) = counts.iter().find(|c| c.0 != unit && c.1.is_some()) {
        return fail(
            &format!("learn.{other}"),
            format!("the method `{}` counts {unit}: write `{unit} = {example}`", learn.method.name()),
        );
    }
    let (length, path) = (counts.iter().find_map(|c| c.1), &*format!("learn.{unit}"));
    match length {
        None => return fail("learn", format!("`{unit}` is missing: write `{unit} = {example}`")),
        Some(0) => return fail(path, "must be at least 1".into()),
        Some(n) if n >= MAX_LENGTH => {
            return fail(path, format!("must be less than {MAX_LENGTH}, found {n}"));
        }
        Some(_) => {}
    }
    let distributions: Vec<&str> = game.distributions.iter().map(|d| &*d.name).collect();
    for (path, name) in [
        ("learn.distribution", &learn.distribution),
        ("evaluate.distribution", &config.evaluate.distribution),
    ] {
        if let Some(name) = name
            && !distributions.contains(&name.as_str())
        {
            let there = match distributions[..] {
                [] => ", nor any other: games begin in one place".into(),
                _ => names::suggest(name, &distributions),
            };
            return fail(path, format!("{} has no distribution of positions `{name}`{there}", game.name));
        }
    }
    regrets(config, game)?;
    let alone = td || learn.method == Method::Regrets;
    if distributions.is_empty() && (!alone || learn.examples.is_some()) {
        let path = if td { "learn.examples" } else { "learn.method" };
        return fail(
            path,
            format!("{} has no distribution of positions to draw from: write `td`", game.name),
        );
    }
    if learn.examples == Some(Examples::Drawn(0)) {
        return fail("learn.examples", "must be at least 1".into());
    }
    if matches!(learn.examples, Some(Examples::Drawn(n)) if n > MAX_EXAMPLES) {
        return fail(
            "learn.examples",
            format!("must be at most {MAX_EXAMPLES}; leave it out for new ones all the time"),
        );
    }
    let only = |path: &str, there: bool, method: Method| match there && learn.method != method {
        true => Err((path.to_string(), format!("belongs to the method `{}`: leave it out", method.name()))),
        false => Ok(()),
    };
    only("learn.examples_per_game", learn.examples_per_game.is_some(), Method::Td)?;
    only("learn.self_play", learn.self_play.is_some(), Method::Expectation)?;
    if td && learn.examples.is_some() != learn.examples_per_game.is_some() {
        return fail("learn", "`examples` and `examples_per_game` belong together: give both or none".into());
    }
    if learn.examples_per_game.is_some_and(|rate| !(rate > 0.0 && rate <= 1e6)) {
        return fail("learn.examples_per_game", "must be above 0 and at most a million".into());
    }
    if learn.self_play.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
        return fail("learn.self_play", "is a share, 0..1".into());
    }
    if learn.method == Method::Expectation && learn.examples.is_some() {
        return fail("learn.examples", "the method `expectation` needs none: leave it out".into());
    }
    if td {
        if learn.examples.is_some() && learn.traces == TraceKind::Online {
            return fail(
                "learn.traces",
                "online traces step at every move, examples in batches: write `backward`".into(),
            );
        }
        return Ok(());
    }
    if learn.against != SELF {
        return fail(
            "learn.against",
            format!("the method `{}` has no opponent: leave it out", learn.method.name()),
        );
    }
    if learn.traces == TraceKind::Online {
        return fail("learn.traces", "belongs to the method `td`: leave it out".into());
    }
    if learn.workers > 1 || learn.overlaps() {
        let path = if learn.workers > 1 { "learn.workers" } else { "learn.overlap" };
        return fail(path, "belongs to the method `td`: leave it out".into());
    }
    if matches!(config.architecture, Architecture::Lookup(_)) && learn.batch > 1 {
        return fail("learn.batch", "a table learns entry by entry: leave `batch` out".into());
    }
    Ok(())
}

/// What the method `regrets` needs.
fn regrets(config: &Config, game: &GameInfo) -> Result<(), Fault> {
    let (learn, fail) = (&config.learn, |path: &str, message: String| Err((path.to_string(), message)));
    if config.lists_decisions() && !game.has_public_tree {
        let path = if learn.method == Method::Regrets { "learn.method" } else { "evaluate.suites" };
        let message =
            "is for small two-player games with hidden information, whose private things can be listed";
        return fail(path, message.into());
    }
    if learn.method != Method::Regrets {
        return match learn.regrets {
            Some(_) => fail("learn.regrets", "belongs to the method `regrets`: leave it out".into()),
            None => Ok(()),
        };
    }
    if learn.batch > 1 {
        return fail(
            "learn.batch",
            "steps are set in `learn.regrets`, by `rows` and `batch`: leave it out".into(),
        );
    }
    let settings = learn.regrets.clone().unwrap_or_default();
    let networks = [
        ("architecture", Some(&config.architecture)),
        ("learn.regrets.architecture", settings.architecture.as_ref()),
    ];
    for (path, architecture) in networks {
        if let Some(kind @ ("hme" | "lookup" | "residual")) = architecture.map(Architecture::kind) {
            return fail(
                path,
                format!(
                    "an architecture `{kind}` has no squared error of any size to learn by: take mlp, meta_pi or symbolic"
                ),
            );
        }
    }
    for (path, architecture) in networks {
        if let Some(output) = architecture.and_then(bounded) {
            return fail(
                path,
                format!(
                    "ends in {output}, but regrets and logits are numbers of any size: write `output = \"linear\"`"
                ),
            );
        }
    }
    if settings.table && settings.architecture.is_some() {
        return fail("learn.regrets.table", "takes the place of a network: leave `architecture` out".into());
    }
    schedule("learn.regrets.rate", &settings.rate, 0.0, 1e9)?;
    for (key, value, low, high) in [
        ("passes", settings.passes, 0.01, 1e4),
        ("reach", settings.reach, 0.0, 1.0),
        ("discount", settings.discount, 0.0, 1e6),
    ] {
        if !(low..=high).contains(&value) {
            return fail(
                &format!("learn.regrets.{key}"),
                format!("must lie in {low}..{high}, found {value}"),
            );
        }
    }
    for (key, count) in [
        ("rows", settings.rows),
        ("keep", settings.keep),
        ("memory", settings.memory),
        ("steps", settings.steps),
        ("batch", settings.batch),
    ] {
        if !(1..=100_000_000).contains(&count) {
            return fail(&format!("learn.regrets.{key}"), format!("must lie in 1..100000000, found {count}"));
        }
    }
    Ok(())
}

/// The activation by which some network of an architecture ends that keeps its output in bounds.
fn bounded(architecture: &Architecture) -> Option<&'static str> {
    let among = |list: &[Architecture]| list.iter().find_map(bounded);
    match architecture {
        Architecture::Mlp(mlp) => match mlp.output {
            Activation::Tanh => Some("tanh"),
            Activation::Sigmoid => Some("sigmoid"),
            Activation::Relu => Some("relu"),
            Activation::Silu | Activation::Linear => None,
        },
        Architecture::MetaPi(pi) => match (&pi.experts, &pi.expert) {
            (Experts::List(list), _) => among(list),
            (Experts::Count(_), expert) => expert.as_deref().and_then(bounded),
        },
        Architecture::Symbolic(symbolic) => symbolic
            .expert
            .as_deref()
            .and_then(bounded)
            .or_else(|| symbolic.experts.as_deref().and_then(among)),
        _ => None,
    }
}

/// More examples are no fixed set.
const MAX_EXAMPLES: u64 = 10_000_000;
/// More positions are measured by `evaluate`.
const MAX_POSITIONS: u64 = 10_000_000;

/// What is measured, and on what.
fn suites(config: &Config, game: &GameInfo) -> Result<(), Fault> {
    let (evaluate, fail) = (&config.evaluate, |path: &str, message: String| Err((path.to_string(), message)));
    let suites = evaluate.suites.as_deref().unwrap_or(&[]);
    if suites.iter().enumerate().any(|(i, s)| suites[..i].contains(s)) {
        return fail("evaluate.suites", "names a suite twice".into());
    }
    if let Some(suite) = suites.iter().find(|suite| !Suite::IN_RUNS.contains(suite)) {
        let message = format!("`{suite}` is measured by `adept evaluate`, not in a run: leave it out");
        return fail("evaluate.suites", message);
    }
    match config.measures(Suite::Equity) {
        true if !game.is_small => {
            return fail("evaluate.suites", format!("{}: write `suites = []`", no_equity(&game.name)));
        }
        true if game.has_public_tree => {
            let message = format!(
                "players of {} do not see all of a state, so that `equity` has no best play to compare with: write \
                 `suites = [\"exploitability\"]`, or `matches`",
                game.name
            );
            return fail("evaluate.suites", message);
        }
        false if game.is_small && !config.measures(Suite::Matches) && !game.has_public_tree => {
            return fail("evaluate.suites", "needs `equity`, which decides what checkpoint is best".into());
        }
        false if evaluate.against.is_some() && !config.measures(Suite::Matches) => {
            return fail(
                "evaluate.against",
                "names opponents of the suites `equity` and `matches`, which are not measured: leave it out"
                    .into(),
            );
        }
        _ => {}
    }
    if config.measures(Suite::Matches) && !(1..=10_000_000).contains(&evaluate.games) {
        return fail("evaluate.games", format!("must lie in 1..10000000, found {}", evaluate.games));
    }
    if config.measures(Suite::Rms) && game.distributions.is_empty() {
        return fail(
            "evaluate.suites",
            format!("{} has no exact values of positions to measure `rms` by", game.name),
        );
    }
    for (path, count) in
        [("evaluate.positions", evaluate.positions), ("evaluate.validation", evaluate.validation)]
    {
        if !(1..=MAX_POSITIONS).contains(&count) {
            return fail(path, format!("must lie in 1..{MAX_POSITIONS}, found {count}"));
        }
    }
    Ok(())
}

/// Where and by how many a run works.
fn compute(config: &Config) -> Result<(), Fault> {
    let (learn, fail) = (&config.learn, |path: &str, message: String| Err((path.to_string(), message)));
    let table = matches!(config.architecture, Architecture::Lookup(_));
    let online = learn.traces == TraceKind::Online;
    learn.compute().check().map_err(|m| ("learn.device".to_string(), m))?;
    if learn.engine == Engine::Burn {
        if table {
            return fail(
                "learn.engine",
                "a table learns entry by entry, not by tensors: leave `engine` out".into(),
            );
        }
        if online {
            return fail(
                "learn.engine",
                "online traces step at every move, for which a device is too far away: leave `engine` out"
                    .into(),
            );
        }
        if matches!(learn.optimiser, Optimiser::Soap(_)) {
            return fail("learn.optimiser", Optimiser::NATIVE_ONLY.into());
        }
    }
    if !(1..=1024).contains(&learn.workers) {
        return fail("learn.workers", format!("must lie in 1..1024, found {}", learn.workers));
    }
    if learn.workers as u64 > learn.batch {
        return fail(
            "learn.workers",
            format!("{} workers share a batch of {}: raise `learn.batch`", learn.workers, learn.batch),
        );
    }
    let (path, apart) = match learn.workers {
        1 => ("learn.overlap", learn.overlaps()),
        _ => ("learn.workers", true),
    };
    if apart && table {
        return fail(path, "a table grows while it plays: leave this out".into());
    }
    if apart && online {
        return fail(path, "online traces step at every move: leave this out".into());
    }
    Ok(())
}

/// Why the suite `equity` cannot measure that game.
pub fn no_equity(game: &str) -> String {
    format!(
        "`equity` goes through all that may happen, and {game} is too large for that, so that it has no exact equity"
    )
}

fn schedule(path: &str, schedule: &Schedule, low: f64, high: f64) -> Result<(), Fault> {
    let fail = |message: String| Err((path.to_string(), message));
    let (least, most) = schedule.range();
    if !(schedule.from.is_finite() && schedule.to.is_finite()) {
        return fail("is not a finite number".into());
    }
    if least < low || most > high {
        let found = if least < low { least } else { most };
        return fail(format!("must lie in {low}..{high}, found {found}"));
    }
    if schedule.shape == Shape::Exponential && least <= 0.0 {
        return fail("an exponential schedule needs both ends above 0".into());
    }
    Ok(())
}
