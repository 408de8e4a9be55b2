//! The processor that the native engine runs on: its name, its vectors, its caches, and the most that one core computes and
//! reads.

use crate::native::{Isa, LANES, fma_loop, read_loop};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name, and on x86-64 family and model, because virtual machines often shorten the name. Empty if unknown.
    pub processor: String,
    /// Threads that may run at once.
    pub threads: usize,
    /// The instruction set of the kernels: `avx512`, `avx2` or `portable`.
    pub vectors: String,
    /// Bytes of a core's data caches and of the shared one, from level 1. Empty if unknown.
    pub caches: Vec<usize>,
}

impl Machine {
    /// The processor of this process.
    pub fn here() -> Self {
        let vectors = match Isa::detect() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            Isa::Portable => "portable",
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { processor: processor(), threads, vectors: vectors.into(), caches: caches() }
    }
}

#[cfg(target_arch = "x86_64")]
fn processor() -> String {
    let cpuid = raw_cpuid::CpuId::new();
    let brand = cpuid.get_processor_brand_string();
    let name = brand.map_or_else(|| "x86-64".into(), |brand| brand.as_str().trim().to_string());
    match cpuid.get_feature_info() {
        Some(info) => format!("{name} (family {}, model {})", info.family_id(), info.model_id()),
        None => name,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> String {
    std::env::consts::ARCH.into()
}

#[cfg(target_arch = "x86_64")]
fn caches() -> Vec<usize> {
    use raw_cpuid::CacheType;
    let cpuid = raw_cpuid::CpuId::new();
    let listed = cpuid.get_cache_parameters().into_iter().flatten();
    let mut found: Vec<(u8, usize)> = listed
        .filter(|cache| matches!(cache.cache_type(), CacheType::Data | CacheType::Unified))
        .map(|c| {
            let lines =
                c.associativity().saturating_mul(c.physical_line_partitions()).saturating_mul(c.sets());
            (c.level(), lines.saturating_mul(c.coherency_line_size()))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, bytes)| bytes).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn caches() -> Vec<usize> {
    Vec::new()
}

/// Peak rates of one core, measured by plain loops over registers and over memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Fused multiply-adds of 32-bit floats a second.
    pub multiply_adds: f64,
    /// Bytes read a second from memory that no cache holds.
    pub read: f64,
    /// Bytes read a second from half of the level 1 cache.
    pub read_near: f64,
}

impl Peak {
    /// Measures for about a quarter of a second, with the instruction set of the kernels. The best of several loops.
    pub fn measure() -> Self {
        let isa = Isa::detect();
        // Hypervisors may say anything.
        let near = caches().first().map_or(16 << 10, |bytes| bytes / 2).clamp(8 << 10, 1 << 20);
        let near = vec![1.0f32; near / size_of::<f32>()];
        let far = vec![1.0f32; FAR / size_of::<f32>()];
        // Loops as long as one over `far`.
        let turns = FAR / size_of_val(&near[..]);
        Self {
            multiply_adds: best(|| {
                let mut done = 0;
                fma_loop(isa, TURNS, &mut done, black_box(&mut [1.0; LANES]));
                done as f64
            }),
            read: best(|| {
                read_loop(isa, 1, &far, black_box(&mut [0.0; LANES]));
                size_of_val(&far[..]) as f64
            }),
            read_near: best(|| {
                read_loop(isa, turns, &near, black_box(&mut [0.0; LANES]));
                (turns * size_of_val(&near[..])) as f64
            }),
        }
    }
}

/// Bytes of a read that no cache holds: more than the shared cache of most processors.
const FAR: usize = 256 << 20;

/// Turns of a loop of multiply-adds.
const TURNS: usize = 1 << 16;

/// The work per second of the fastest of some calls, each of which returns what it did.
fn best(mut call: impl FnMut() -> f64) -> f64 {
    call();
    let (start, mut best) = (Instant::now(), 0.0f64);
    while start.elapsed() < Duration::from_millis(80) {
        let before = Instant::now();
        let work = call();
        best = best.max(work / before.elapsed().as_secs_f64());
    }
    best
}
