//! Engines and devices that networks learn on: the native engine on the CPU, or the burn engine on a Burn device.

#[cfg(feature = "burn")]
mod adapters;
#[cfg(feature = "burn")]
pub(crate) use adapters::guarded;

use crate::names::suggest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The engine that runs the learning steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// This crate's own engine: small batches on the CPU, one thread per run.
    #[default]
    Native,
    /// Burn tensors: large batches, on any Burn device.
    Burn,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::Burn => "burn",
        })
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "native" => Ok(Self::Native),
            "burn" => Ok(Self::Burn),
            _ => Err(format!("unknown engine `{text}`{}", suggest(text, &["native", "burn"]))),
        }
    }
}

/// A device: `cpu`, `flex`, `ndarray`, `wgpu` or `cuda`. The last two take a number if there are several: `cuda:1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceName {
    /// The CPU. The burn engine uses it through [`Self::Flex`].
    #[default]
    Cpu,
    /// Burn's own CPU backend.
    Flex,
    /// The CPU through the crate ndarray; Burn recommends flex instead.
    Ndarray,
    /// A GPU through WebGPU: Vulkan, Metal or DirectX.
    Wgpu(usize),
    /// An NVIDIA GPU.
    Cuda(usize),
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wgpu(n) | Self::Cuda(n) if *n > 0 => write!(f, "{}:{n}", self.kind()),
            _ => f.write_str(self.kind()),
        }
    }
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, number) = text.split_once(':').map_or((text, None), |(kind, number)| (kind, Some(number)));
        let device: fn(usize) -> Self = match kind {
            "cpu" => |_| Self::Cpu,
            "flex" => |_| Self::Flex,
            "ndarray" => |_| Self::Ndarray,
            "wgpu" => Self::Wgpu,
            "cuda" => Self::Cuda,
            _ => return Err(format!("unknown device `{kind}`{}", suggest(kind, &Self::KINDS))),
        };
        let Some(number) = number else { return Ok(device(0)) };
        if !matches!(kind, "wgpu" | "cuda") {
            return Err(format!("`{text}` is not a device: there is only one `{kind}`, write `{kind}`"));
        }
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        match number.parse().ok().filter(|_| digits) {
            Some(n) => Ok(device(n)),
            None => Err(format!("`{text}` is not a device: write `{kind}`, or `{kind}:1` for the second")),
        }
    }
}

impl DeviceName {
    const KINDS: [&str; 5] = ["cpu", "flex", "ndarray", "wgpu", "cuda"];

    /// The name without a number.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Flex => "flex",
            Self::Ndarray => "ndarray",
            Self::Wgpu(_) => "wgpu",
            Self::Cuda(_) => "cuda",
        }
    }
}

impl Serialize for DeviceName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for DeviceName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Device".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A device: cpu, flex, ndarray, wgpu or cuda; wgpu:1 or cuda:1 for the second one.",
            "type": "string",
            "pattern": "^(cpu|flex|ndarray|(wgpu|cuda)(:[0-9]+)?)$"
        })
    }
}

/// An engine and its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compute {
    /// The engine that runs the learning steps.
    pub engine: Engine,
    /// The device of the engine.
    pub device: DeviceName,
}

impl Compute {
    /// Checks that the engine runs on the device.
    ///
    /// # Errors
    /// The advice what to write instead.
    pub fn check(&self) -> Result<(), String> {
        match (self.engine, self.device) {
            (Engine::Native, DeviceName::Cpu) | (Engine::Burn, _) => Ok(()),
            (Engine::Native, device) => {
                Err(format!("the native engine runs on the cpu, not on `{device}`: choose the engine burn"))
            }
        }
    }
}

/// A device, and whether this program and machine can use it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceInfo {
    /// Name for `--device`.
    pub name: String,
    /// Engines that run on it.
    pub engines: Vec<Engine>,
    /// One-line description.
    pub about: String,
    /// Whether it can be used here.
    pub usable: bool,
    /// Advice, if it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// All known devices. Unusable ones have a hint.
pub fn devices() -> Vec<DeviceInfo> {
    let mut all = vec![DeviceInfo {
        name: "cpu".into(),
        engines: if cfg!(feature = "flex") {
            vec![Engine::Native, Engine::Burn]
        } else {
            vec![Engine::Native]
        },
        about: match cfg!(feature = "flex") {
            true => "CPU, with the native engine; with the burn engine the same as flex",
            false => "CPU, with the native engine",
        }
        .into(),
        usable: true,
        hint: None,
    }];
    let ndarray = "CPU, through ndarray; Burn recommends flex instead";
    for (device, compiled, about) in [
        (DeviceName::Flex, cfg!(feature = "flex"), "CPU, Burn's own backend"),
        (DeviceName::Ndarray, cfg!(feature = "ndarray"), ndarray),
    ] {
        all.push(device.info(about.into(), (!compiled).then(|| device.not_compiled())));
    }
    #[cfg(feature = "burn")]
    let (wgpu, cuda) = (adapters::wgpu(), adapters::cuda());
    #[cfg(not(feature = "burn"))]
    let (wgpu, cuda) = {
        let none = |device: DeviceName| Err::<Vec<String>, String>(device.not_compiled());
        (none(DeviceName::Wgpu(0)), none(DeviceName::Cuda(0)))
    };
    all.extend(numbered(DeviceName::Wgpu, "GPU, through WebGPU", wgpu));
    all.extend(numbered(DeviceName::Cuda, "NVIDIA GPU, through CUDA", cuda));
    all
}

/// The devices of a kind that can exist several times, or one unusable device with a hint.
fn numbered(
    device: fn(usize) -> DeviceName,
    what: &str,
    found: Result<Vec<String>, String>,
) -> Vec<DeviceInfo> {
    match found {
        Err(hint) => vec![device(0).info(what.into(), Some(hint))],
        Ok(names) => {
            let info = |(n, name): (usize, &String)| device(n).info(format!("{what}: {name}"), None);
            names.iter().enumerate().map(info).collect()
        }
    }
}

impl DeviceName {
    fn info(self, about: String, hint: Option<String>) -> DeviceInfo {
        let usable = hint.is_none();
        DeviceInfo { name: self.to_string(), engines: vec![Engine::Burn], about, usable, hint }
    }

    fn not_compiled(&self) -> String {
        let kind = self.kind();
        format!(
            "this program was built without it: rebuild it with `cargo build --release --features {kind}`"
        )
    }
}
