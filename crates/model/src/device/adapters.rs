//! Lists Burn's devices, and opens one without a panic.
//!
//! Burn opens a device at its first use and panics if that fails. So this module first queries the drivers, then checks
//! a small matrix product on the device.

use super::DeviceName;
use crate::error::ModelError;
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Names of the WebGPU adapters, ordered by number; or a hint what to do.
#[cfg(not(feature = "wgpu"))]
pub(super) fn wgpu() -> Result<Vec<String>, String> {
    Err(DeviceName::Wgpu(0).not_compiled())
}

/// Names of the CUDA devices, ordered by number; or a hint what to do.
#[cfg(not(feature = "cuda"))]
pub(super) fn cuda() -> Result<Vec<String>, String> {
    Err(DeviceName::Cuda(0).not_compiled())
}

impl DeviceName {
    /// Opens the device and tests it with a small product.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with what to do: the feature to build with, the driver to install, or the available
    /// devices.
    pub fn open(&self) -> Result<Device, ModelError> {
        let fail =
            |why: String| ModelError::Unsupported(format!("the device `{self}` cannot be used: {why}"));
        let device: Result<Device, String> = match self {
            #[cfg(feature = "flex")]
            Self::Cpu | Self::Flex => Ok(Device::flex()),
            #[cfg(not(feature = "flex"))]
            Self::Cpu | Self::Flex => Err(Self::Flex.not_compiled()),
            #[cfg(feature = "ndarray")]
            // The user asked for it by name; `list devices` shows that it is deprecated.
            #[allow(deprecated)]
            Self::Ndarray => Ok(Device::ndarray()),
            #[cfg(feature = "wgpu")]
            Self::Wgpu(n) => gpu::open(*n),
            #[cfg(feature = "cuda")]
            Self::Cuda(n) => nvidia::open(*n),
            #[cfg(not(all(feature = "ndarray", feature = "wgpu", feature = "cuda")))]
            other => Err(other.not_compiled()),
        };
        let device = device.map_err(fail)?;
        guarded(|| product(&device)).map_err(fail)?;
        Ok(device)
    }
}

/// Turns a panic of a driver into an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text
            .or(panic.downcast_ref::<&str>().map(|s| s.to_string()))
            .unwrap_or("its driver failed".into()))
    })
}

/// Checks a small matrix product.
fn product(device: &Device) -> Result<(), String> {
    let data = TensorData::new(vec![1.0f32, 2.0, 3.0, 4.0], [2, 2]);
    let a = Tensor::<2>::from_data(data, (device, DType::F32));
    match a.clone().matmul(a).try_into_vec_as::<f32>() {
        Ok(found) if found == [7.0, 10.0, 15.0, 22.0] => Ok(()),
        Ok(found) => Err(format!("a test product gave {found:?}, expected 7, 10, 15, 22")),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(feature = "wgpu")]
pub(super) use gpu::names as wgpu;

#[cfg(feature = "wgpu")]
mod gpu {
    use super::guarded;
    use burn::tensor::wgpu::wgpu;
    use burn::tensor::{Device, DeviceKind};
    use std::pin::pin;
    use std::sync::{Mutex, OnceLock, PoisonError};
    use std::task::{Context, Poll, Waker};

    struct Adapter {
        name: String,
        /// None for adapters that Burn cannot select, such as those of OpenGL.
        kind: Option<DeviceKind>,
    }

    /// Queried once, because Vulkan's loader does not support creating instances on several threads.
    fn adapters() -> &'static [Adapter] {
        static ADAPTERS: OnceLock<Vec<Adapter>> = OnceLock::new();
        ADAPTERS.get_or_init(|| guarded(|| Ok(look())).unwrap_or_default())
    }

    fn of_api(api: wgpu::Backend) -> Vec<wgpu::AdapterInfo> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: api.into(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        // The future is immediately ready, except in browsers.
        match pin!(instance.enumerate_adapters(api.into())).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(adapters) => adapters.iter().map(wgpu::Adapter::get_info).collect(),
            Poll::Pending => Vec::new(),
        }
    }

    /// The adapters of the API that Burn will choose: the first with a real GPU, or else the first with any adapter.
    fn look() -> Vec<Adapter> {
        let apis: &[wgpu::Backend] = if cfg!(target_os = "macos") {
            &[wgpu::Backend::Metal]
        } else {
            &[wgpu::Backend::Vulkan, wgpu::Backend::Dx12, wgpu::Backend::Gl]
        };
        let mut found = Vec::new();
        for &api in apis {
            let here = of_api(api);
            if here.iter().any(|a| a.device_type != wgpu::DeviceType::Cpu) {
                found = here;
                break;
            }
            if found.is_empty() {
                found = here;
            }
        }
        let mut counts = [0; 3];
        let mut number = |kind: usize| {
            counts[kind] += 1;
            counts[kind] - 1
        };
        let mut adapters = Vec::new();
        let mut software = false;
        for info in found {
            // Burn can select only the first CPU.
            if info.device_type == wgpu::DeviceType::Cpu && std::mem::replace(&mut software, true) {
                continue;
            }
            let kind = match info.device_type {
                wgpu::DeviceType::DiscreteGpu => Some(DeviceKind::DiscreteGpu(number(0))),
                wgpu::DeviceType::IntegratedGpu => Some(DeviceKind::IntegratedGpu(number(1))),
                wgpu::DeviceType::VirtualGpu => Some(DeviceKind::VirtualGpu(number(2))),
                wgpu::DeviceType::Cpu => Some(DeviceKind::Cpu),
                wgpu::DeviceType::Other => None,
            };
            let name = format!("{} ({:?}, {:?})", info.name, info.backend, info.device_type);
            adapters.push(Adapter { name, kind });
        }
        adapters
    }

    const NONE: &str = "no adapter was found: install a driver for Vulkan, Metal or DirectX 12 (on Linux without a \
                        GPU: Mesa's lavapipe, package mesa-vulkan-drivers)";

    pub(crate) fn names() -> Result<Vec<String>, String> {
        match adapters() {
            [] => Err(NONE.into()),
            adapters => Ok(adapters.iter().map(|a| a.name.clone()).collect()),
        }
    }

    pub(super) fn open(n: usize) -> Result<Device, String> {
        let adapters = adapters();
        match adapters.get(n).map(|a| &a.kind) {
            Some(Some(kind)) => start(kind),
            Some(None) if adapters.len() == 1 => start(&DeviceKind::DefaultDevice),
            Some(None) => Err("Burn cannot select this adapter among several".into()),
            None if adapters.is_empty() => Err(NONE.into()),
            None => {
                Err(format!("found {} adapters, counted from 0: see `adept list devices`", adapters.len()))
            }
        }
    }

    /// Starts the runtime of an adapter, once per process, because a second start is an error.
    fn start(kind: &DeviceKind) -> Result<Device, String> {
        static STARTED: Mutex<Vec<(DeviceKind, Device)>> = Mutex::new(Vec::new());
        let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, device)) = started.iter().find(|(k, _)| k == kind) {
            return Ok(device.clone());
        }
        let start = || Device::wgpu_options().device_kind(kind.clone()).init().map_err(|e| e.to_string());
        let device = guarded(start)?;
        started.push((kind.clone(), device.clone()));
        Ok(device)
    }
}

#[cfg(feature = "cuda")]
pub(super) use nvidia::names as cuda;

#[cfg(feature = "cuda")]
mod nvidia {
    use super::guarded;
    use burn::tensor::Device;
    use cudarc::driver::{result, sys};

    const NONE: &str = "no NVIDIA GPU was found: install NVIDIA's driver";

    /// Queries the driver's library without opening a context.
    pub(crate) fn names() -> Result<Vec<String>, String> {
        let names = guarded(|| {
            // SAFETY: the call only tries to load the driver's library under its usual names.
            if !unsafe { sys::is_culib_present() } {
                return Ok(Vec::new());
            }
            // Prints the error code, because its text would come from the driver.
            result::init().map_err(|e| format!("NVIDIA's driver does not start: {:?}", e.0))?;
            let count = result::device::get_count().map_err(|e| format!("NVIDIA's driver: {:?}", e.0))?;
            let name = |n| result::device::get(n).and_then(result::device::get_name);
            Ok((0..count).map(|n| name(n).unwrap_or_else(|e| format!("GPU {n} ({:?})", e.0))).collect())
        })?;
        if names.is_empty() { Err(NONE.into()) } else { Ok(names) }
    }

    pub(super) fn open(n: usize) -> Result<Device, String> {
        match names()?.len() {
            found if n < found => Ok(Device::cuda(n)),
            found => Err(format!("found {found} GPUs, counted from 0: see `adept list devices`")),
        }
    }
}
