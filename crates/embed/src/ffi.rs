//! The C interface: see `include/adept.h`.
//!
//! Every function catches panics and returns a code. Pointers are checked for null; nothing else about them can
//! be checked.

use crate::{Error, Model};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::{ptr, slice};

/// Opaque model handle of a C program.
pub struct Handle {
    model: Model,
    description: CString,
}

const OK: c_int = 0;
const ARGUMENT: c_int = 1;
const CHECKPOINT: c_int = 2;
const POSITION: c_int = 3;
const ROWS: c_int = 4;
const TOO_SMALL: c_int = 5;
const INTERNAL: c_int = 6;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// An error code and its message.
struct Fault(c_int, String);

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::Position(_) | Error::State(_) => POSITION,
            Error::Rows(_) => ROWS,
            _ => CHECKPOINT,
        };
        Self(code, error.to_string())
    }
}

fn argument(what: &str) -> Fault {
    Fault(ARGUMENT, what.into())
}

/// Runs a call and turns errors and panics into a code and a message.
fn call(f: impl FnOnce() -> Result<(), Fault>) -> c_int {
    let result = catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Fault(INTERNAL, format!("a fault of the library: {text}")))
    });
    match result {
        Ok(()) => OK,
        Err(Fault(code, message)) => {
            // The thread-local value may already be gone when a thread ends.
            let _ = LAST_ERROR.try_with(|last| last.replace(text_of(message)));
            code
        }
    }
}

/// A C string, cut at the first zero byte.
fn text_of(text: String) -> CString {
    CString::new(text).unwrap_or_else(|e| {
        let end = e.nul_position();
        CString::new(&e.into_vec()[..end]).unwrap_or_default()
    })
}

/// # Safety
/// `handle` is null or comes from [`adept_open`] and was not closed.
unsafe fn model<'a>(handle: *const Handle) -> Result<&'a Model, Fault> {
    // SAFETY: as promised above.
    unsafe { handle.as_ref() }.map(|h| &h.model).ok_or_else(|| argument("the model is NULL"))
}

/// # Safety
/// `text` is null or ends in a zero byte.
unsafe fn string<'a>(text: *const c_char) -> Result<&'a str, Fault> {
    if text.is_null() {
        return Err(argument("a text is NULL"));
    }
    // SAFETY: as promised above.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| argument("a text is not UTF-8"))
}

/// # Safety
/// `texts` is null or has `count` entries, each null or ended by a zero byte.
unsafe fn strings<'a>(texts: *const *const c_char, count: usize) -> Result<Vec<&'a str>, Fault> {
    // SAFETY: as promised above.
    unsafe { input(texts, count) }?.iter().map(|&text| unsafe { string(text) }).collect()
}

/// Borrows numbers of the caller; zero entries may have a null pointer.
///
/// # Safety
/// `data` is null or has `len` entries.
unsafe fn input<'a, T>(data: *const T, len: usize) -> Result<&'a [T], Fault> {
    if len > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(argument("an array cannot have that many entries"));
    }
    match (len, data.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(argument("an array is NULL")),
        // SAFETY: as promised above.
        _ => Ok(unsafe { slice::from_raw_parts(data, len) }),
    }
}

/// Copies numbers to the caller's memory.
///
/// # Safety
/// `to` is null or has room for `from`.
unsafe fn output<T: Copy>(from: &[T], to: *mut T) -> Result<(), Fault> {
    if from.is_empty() {
        return Ok(());
    }
    if to.is_null() {
        return Err(argument("an array for results is NULL"));
    }
    // SAFETY: as promised above; the caller's memory does not overlap ours.
    unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    Ok(())
}

/// Copies a text with a final zero byte to the caller's memory, truncated if necessary.
///
/// # Safety
/// `to` is null or has room for `size` bytes.
unsafe fn output_text(text: &str, to: *mut c_char, size: usize) -> Result<(), Fault> {
    if to.is_null() {
        return Ok(());
    }
    let Some(room) = size.checked_sub(1) else {
        return Err(Fault(TOO_SMALL, "a text buffer has size 0".into()));
    };
    let fits = text.floor_char_boundary(room.min(text.len()));
    // SAFETY: `fits` + 1 ≤ `size`.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast(), to, fits);
        *to.add(fits) = 0;
    }
    if fits < text.len() {
        let message = format!("`{text}` needs {} bytes, the buffer has {size}", text.len() + 1);
        return Err(Fault(TOO_SMALL, message));
    }
    Ok(())
}

/// Transfers a text to the caller, who must free it; null on failure.
///
/// # Safety
/// `to` is null or can be written.
unsafe fn give(to: *mut *mut c_char, text: impl FnOnce() -> Result<String, Fault>) -> Result<(), Fault> {
    if to.is_null() {
        return Err(argument("the pointer for the text is NULL"));
    }
    // SAFETY: as promised above.
    unsafe { to.write(ptr::null_mut()) };
    let text = text()?;
    // SAFETY: as promised above.
    unsafe { to.write(text_of(text).into_raw()) };
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|e| Fault(INTERNAL, e.to_string()))
}

/// Version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn adept_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// Message of the last failed call of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn adept_last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"the thread is ending".as_ptr())
}

/// Opens a checkpoint, or the latest checkpoint of a run.
///
/// # Safety
/// `path` is null or ends in a zero byte, `model` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_open(path: *const c_char, model: *mut *mut Handle) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { open(path, model, |path| Ok(Model::open(path)?)) }
}

/// Opens a checkpoint, or the best checkpoint of a run.
///
/// # Safety
/// As for [`adept_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_open_best(path: *const c_char, model: *mut *mut Handle) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { open(path, model, |path| Ok(Model::open_best(path)?)) }
}

/// Opens a checkpoint, or the latest checkpoint of a run, to play a rule set.
///
/// # Safety
/// As for [`adept_open`]; `game` is null or ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_open_as(
    path: *const c_char,
    game: *const c_char,
    model: *mut *mut Handle,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { open(path, model, |path| Ok(Model::open_as(string(game)?, path)?)) }
}

/// # Safety
/// As for [`adept_open`].
unsafe fn open(
    path: *const c_char,
    model: *mut *mut Handle,
    opened: impl FnOnce(&Path) -> Result<Model, Fault>,
) -> c_int {
    call(|| {
        if model.is_null() {
            return Err(argument("the pointer for the model is NULL"));
        }
        // SAFETY: it is not null, and the caller allows writing.
        unsafe { model.write(ptr::null_mut()) };
        // SAFETY: as the caller promises.
        let path = Path::new(unsafe { string(path) }?);
        let opened = opened(path)?;
        let description = text_of(json(opened.describe())?);
        let handle = Box::new(Handle { model: opened, description });
        // SAFETY: as above.
        unsafe { model.write(Box::into_raw(handle)) };
        Ok(())
    })
}

/// Frees a model.
///
/// # Safety
/// `model` is null or comes from [`adept_open`], no other call uses it, and none will.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_close(model: *mut Handle) {
    if !model.is_null() {
        call(|| {
            // SAFETY: it was made by `Box::into_raw`, and the caller returns it once.
            drop(unsafe { Box::from_raw(model) });
            Ok(())
        });
    }
}

/// Description of a model as JSON.
///
/// # Safety
/// `model` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_describe(model: *const Handle) -> *const c_char {
    // SAFETY: as the caller promises.
    unsafe { model.as_ref() }.map_or(ptr::null(), |h| h.description.as_ptr())
}

/// Floats per row.
///
/// # Safety
/// `model` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_dense_width(model: *const Handle) -> usize {
    // SAFETY: as the caller promises.
    unsafe { model.as_ref() }.map_or(0, |h| h.model.describe().dense_width)
}

/// Integers per row.
///
/// # Safety
/// `model` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_index_width(model: *const Handle) -> usize {
    // SAFETY: as the caller promises.
    unsafe { model.as_ref() }.map_or(0, |h| h.model.describe().index_width)
}

/// Computes the values of positions for the player to move.
///
/// # Safety
/// `model` is null or open; `positions` has `count` texts, `values` has room for as many floats; null pointers are
/// detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_values(
    model: *const Handle,
    positions: *const *const c_char,
    count: usize,
    values: *mut f32,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe {
        let found = self::model(model)?.values(&strings(positions, count)?)?;
        output(&found, values)
    })
}

/// Finds the best move of a position.
///
/// # Safety
/// `model` is null or open, `position` ends in a zero byte; the buffers have the sizes given, or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_choose(
    model: *const Handle,
    position: *const c_char,
    action: *mut c_char,
    action_size: usize,
    after: *mut c_char,
    after_size: usize,
    value: *mut f32,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe {
        let (model, position) = (self::model(model)?, string(position)?);
        let best = model.choose(position)?.ok_or_else(|| no_move(position))?;
        if !value.is_null() {
            value.write(best.value);
        }
        let action = output_text(&best.action, action, action_size);
        output_text(&best.after, after, after_size).and(action)
    })
}

/// Computes the buffer sizes of [`adept_choose`] in bytes, including the zero bytes.
///
/// # Safety
/// `model` is null or open, `position` ends in a zero byte; the sizes can be written, or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_choose_sizes(
    model: *const Handle,
    position: *const c_char,
    action_size: *mut usize,
    after_size: *mut usize,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe {
        let (model, position) = (self::model(model)?, string(position)?);
        let sizes = model.0.text_sizes(position)?.ok_or_else(|| no_move(position))?;
        for (size, bytes) in [action_size, after_size].into_iter().zip(sizes) {
            if !size.is_null() {
                size.write(bytes + 1);
            }
        }
        Ok(())
    })
}

fn no_move(position: &str) -> Fault {
    Fault(POSITION, format!("`{position}`: there is no legal move"))
}

/// Lists all moves of a position, best first, as JSON.
///
/// # Safety
/// `model` is null or open, `position` ends in a zero byte, `json` can be written; null pointers are detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_moves(
    model: *const Handle,
    position: *const c_char,
    json: *mut *mut c_char,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe { give(json, || self::json(&self::model(model)?.moves(string(position)?)?)) })
}

/// Explains a position as JSON.
///
/// # Safety
/// As for [`adept_moves`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_explain(
    model: *const Handle,
    position: *const c_char,
    json: *mut *mut c_char,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe { give(json, || self::json(&self::model(model)?.explain(string(position)?)?)) })
}

/// Names of the figures of [`adept_reading`], in its order.
const FIGURES: [&CStr; 8] = [
    c"cubeless",
    c"no double",
    c"double, take",
    c"double, pass",
    c"win the game",
    c"win the match",
    c"double from",
    c"pass from",
];

/// Name of a figure of [`adept_reading`]; null if there is no such figure.
#[unsafe(no_mangle)]
pub extern "C" fn adept_figure_name(figure: usize) -> *const c_char {
    FIGURES.get(figure).map_or(ptr::null(), |name| name.as_ptr())
}

/// Computes the figures of a decision about the doubling cube, and what to do.
///
/// # Safety
/// `model` is null or open, `position` ends in a zero byte; `figures` has room for `count` numbers, and `advice` for `advice_size` bytes or
/// is null; null pointers are detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_reading(
    model: *const Handle,
    position: *const c_char,
    figures: *mut f64,
    count: usize,
    advice: *mut c_char,
    advice_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe {
        let (model, position) = (self::model(model)?, string(position)?);
        let reading = model.explain(position)?.reading.ok_or_else(|| no_reading(position))?;
        let figure = |name: &CStr| {
            let found = reading.figures.iter().find(|(known, _)| known.as_bytes() == name.to_bytes());
            found.map_or(f64::NAN, |(_, figure)| *figure)
        };
        output(&FIGURES.map(figure)[..count.min(FIGURES.len())], figures)?;
        output_text(reading.advice, advice, advice_size)
    })
}

fn no_reading(position: &str) -> Fault {
    let needed = "open a model without a search by `adept_open_as` for a rule set with the cube, and give a position before a roll or \
                  with an offered double";
    Fault(POSITION, format!("`{position}`: it has no figures of the cube: {needed}"))
}

/// Encodes positions as rows.
///
/// # Safety
/// `model` is null or open; `positions` has `count` texts, `dense` and `index` have room for as many rows; null
/// pointers are detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_encode(
    model: *const Handle,
    positions: *const *const c_char,
    count: usize,
    dense: *mut f32,
    index: *mut u64,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe {
        let rows = self::model(model)?.encode(&strings(positions, count)?)?;
        output(&rows.dense, dense)?;
        output(&rows.index, index)
    })
}

/// Computes the values of rows for the player who just moved.
///
/// # Safety
/// `model` is null or open; `dense` and `index` have this many rows, `values` has room for as many floats; null
/// pointers are detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_evaluate(
    model: *const Handle,
    dense: *const f32,
    index: *const u64,
    rows: usize,
    values: *mut f32,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe {
        let model = self::model(model)?;
        let length = |width: usize| rows.checked_mul(width).ok_or_else(|| argument("too many rows"));
        let d = model.describe();
        let dense = input(dense, length(d.dense_width)?)?;
        let index = input(index, length(d.index_width)?)?;
        output(&model.evaluate_slices(rows, dense, index)?, values)
    })
}

/// Number of outcome classes; 0 if the model has scalar values.
///
/// # Safety
/// `model` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_classes(model: *const Handle) -> usize {
    // SAFETY: as the caller promises.
    unsafe { model.as_ref() }.and_then(|h| h.model.describe().head.classes()).map_or(0, <[_]>::len)
}

/// Computes the outcome probabilities of rows, for the player who just moved.
///
/// # Safety
/// As for [`adept_evaluate`]; `outcomes` has room for `rows` times [`adept_classes`] floats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_outcomes(
    model: *const Handle,
    dense: *const f32,
    index: *const u64,
    rows: usize,
    outcomes: *mut f32,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe {
        let model = self::model(model)?;
        let length = |width: usize| rows.checked_mul(width).ok_or_else(|| argument("too many rows"));
        let d = model.describe();
        let dense = input(dense, length(d.dense_width)?)?;
        let index = input(index, length(d.index_width)?)?;
        output(&model.outcomes(rows, dense, index)?, outcomes)
    })
}

/// Frees a text.
///
/// # Safety
/// `text` is null or comes from [`adept_moves`] or [`adept_explain`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adept_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it was made by `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        let code = call(|| panic!("a slip at row {}", 3));
        // SAFETY: never null, and ends in a zero byte.
        let message = unsafe { CStr::from_ptr(adept_last_error()) }.to_str().unwrap();
        assert_eq!((code, message), (INTERNAL, "a fault of the library: a slip at row 3"));
        // A successful call keeps the previous message.
        assert_eq!(call(|| Ok(())), OK);
    }

    #[test]
    fn messages_belong_to_their_thread() {
        assert_eq!(call(|| Err(argument("here"))), ARGUMENT);
        std::thread::spawn(|| {
            // SAFETY: as above.
            assert_eq!(unsafe { CStr::from_ptr(adept_last_error()) }, c"");
            assert_eq!(call(|| Err(argument("there\0 and beyond"))), ARGUMENT);
            // SAFETY: as above.
            assert_eq!(unsafe { CStr::from_ptr(adept_last_error()) }, c"there");
        })
        .join()
        .unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { CStr::from_ptr(adept_last_error()) }, c"here");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let mut buffer = [1; 8];
        // SAFETY: a buffer of the size that is passed.
        let cut = unsafe { output_text("aäää", buffer.as_mut_ptr(), 5) };
        assert_eq!(cut.unwrap_err().0, TOO_SMALL);
        // SAFETY: ended by the call above.
        assert_eq!(unsafe { CStr::from_ptr(buffer.as_ptr()) }.to_str().unwrap(), "aä");
    }
}
