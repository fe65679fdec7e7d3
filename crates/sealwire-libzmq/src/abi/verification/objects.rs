//! The objects that the loader has mapped: what they define, and where their calls lead.
//!
//! Addresses in them are followed as the loader itself does: it has mapped them, and says so in `dl_iterate_phdr`.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::slice;

use libc::{Elf64_Phdr, c_char, c_int, dl_phdr_info};

/// A text that each libzmq has, its symbols stripped or not: what it says of `EFSM`.
const TEXT: &[u8] = b"Operation cannot be accomplished in current state";
/// What each libzmq defines.
const DEFINED: &CStr = c"zmq_ctx_new";
const PREFIX: &[u8] = b"zmq_";

const DT_NULL: u64 = 0;
const DT_PLTRELSZ: u64 = 2;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;
const DT_GNU_HASH: u64 = 0x6fff_fef5;

/// An entry of a table of symbols.
#[repr(C)]
#[derive(Clone, Copy)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// An entry of a table of relocations.
#[repr(C)]
#[derive(Clone, Copy)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// A place in an object that holds the address of a function of libzmq, through which it calls.
pub(super) struct Slot {
    pub(super) name: String,
    /// Where it leads now: to the function, or where it was not called yet to code of the object that looks for it.
    target: usize,
}

/// One object.
pub(super) struct Object {
    /// Its path; that of the program is empty.
    pub(super) name: String,
    base: usize,
    segments: &'static [Elf64_Phdr],
    dynamic: Dynamic,
}

/// The addresses of its tables.
#[derive(Default)]
struct Dynamic {
    symbols: usize,
    strings: usize,
    hash: usize,
    gnu_hash: usize,
    relocations: [(usize, usize); 2],
}

pub(super) struct Objects(Vec<Object>);

impl Objects {
    /// Returns the number of objects that were ever loaded; 0 where that is not known.
    pub(super) fn loaded_so_far() -> u64 {
        let mut adds = 0_u64;
        each(|info| {
            adds = info.dlpi_adds;
            false
        });
        adds
    }

    /// Gives all of them to a function. None is unloaded meanwhile.
    pub(super) fn with_all<T>(read: impl FnOnce(&Objects) -> T) -> T
    where
        T: Default,
    {
        let mut read = Some(read);
        let mut answer = T::default();
        // The loader's lock is held within, and may be taken again by the same thread.
        each(|_| {
            let mut objects = Vec::new();
            each(|info| {
                objects.extend(Object::of(info));
                true
            });
            if let Some(read) = read.take() {
                answer = read(&Objects(objects));
            }
            false
        });
        answer
    }

    /// All but the one with this library.
    pub(super) fn others(&self) -> impl Iterator<Item = &Object> {
        let own = super::super::contexts::zmq_ctx_new as *const () as usize;
        self.0.iter().filter(move |object| !object.holds(own))
    }
}

/// Calls a function for each object as long as it gives `true`.
fn each<F: FnMut(&dl_phdr_info) -> bool>(mut call: F) {
    unsafe extern "C" fn one<F: FnMut(&dl_phdr_info) -> bool>(
        info: *mut dl_phdr_info,
        _size: usize,
        call: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's own, for the time of the call; and the function that `each` was given.
        let (info, call) = unsafe { (&*info, &mut *call.cast::<F>()) };
        c_int::from(!call(info))
    }
    // SAFETY: `one` gets the function that lives until this returns. It does not unwind: `call` reads tables and
    // allocates.
    unsafe { libc::dl_iterate_phdr(Some(one::<F>), (&raw mut call).cast()) };
}

impl Object {
    fn of(info: &dl_phdr_info) -> Option<Self> {
        // SAFETY: both are the loader's, and stay as long as the object is loaded.
        let (name, segments) = unsafe {
            (
                CStr::from_ptr(info.dlpi_name),
                slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()),
            )
        };
        let base = info.dlpi_addr as usize;
        let dynamic = segments.iter().find(|it| it.p_type == libc::PT_DYNAMIC)?;
        let name = match name.to_string_lossy() {
            name if name.is_empty() => std::env::current_exe()
                .map_or_else(|_| "the program".into(), |path| path.display().to_string()),
            name => name.into_owned(),
        };
        Some(Object {
            name,
            base,
            segments,
            dynamic: Dynamic::read(base, base + dynamic.p_vaddr as usize),
        })
    }

    /// The parts of it that are in memory as they are in the file.
    fn loaded(&self) -> impl Iterator<Item = (&Elf64_Phdr, usize)> {
        let loaded = self.segments.iter();
        let loaded = loaded.filter(|segment| segment.p_type == libc::PT_LOAD);
        loaded.map(|segment| (segment, self.base + segment.p_vaddr as usize))
    }

    /// Whether this address is in it.
    fn holds(&self, address: usize) -> bool {
        self.loaded()
            .any(|(segment, at)| (at..at + segment.p_memsz as usize).contains(&address))
    }

    /// Whether its file is a libzmq by name, with nothing else in it: `libzmq.so.5`, `libzmq-0123abcd.so.5`. `libzmqpp.so` is
    /// not.
    pub(super) fn is_named_libzmq(&self) -> bool {
        let name = Path::new(&self.name).file_name().unwrap_or_default();
        let rest = name.as_encoded_bytes().strip_prefix(b"libzmq");
        rest.is_some_and(|rest| matches!(rest.first(), Some(b'.' | b'-')))
    }

    /// Whether a libzmq is in it that its own calls reach. The loader binds those to one with symbols, which `slots` show; what
    /// calls one without is bound already, whatever else the object calls.
    pub(super) fn has_libzmq_of_its_own(&self, slots: &[Slot]) -> bool {
        match self.function(DEFINED) {
            Some(_) => slots.is_empty(),
            None => self.has_text(),
        }
    }

    fn has_text(&self) -> bool {
        let constant =
            |segment: &Elf64_Phdr| segment.p_flags & (libc::PF_R | libc::PF_W) == libc::PF_R;
        self.loaded().any(|(segment, at)| {
            // SAFETY: the loader has mapped it to be read.
            constant(segment)
                && !unsafe {
                    libc::memmem(
                        at as *const c_void,
                        segment.p_filesz as usize,
                        TEXT.as_ptr().cast(),
                        TEXT.len(),
                    )
                }
                .is_null()
        })
    }

    /// Whether the slot leads to a function of a libzmq in this object.
    pub(super) fn is_reached_by(&self, slot: &Slot) -> bool {
        let mut name = slot.name.clone().into_bytes();
        name.push(0);
        let name = CStr::from_bytes_with_nul(&name).unwrap_or_default();
        self.function(DEFINED).is_some() && self.function(name) == Some(slot.target)
    }

    /// The slots for functions of libzmq.
    pub(super) fn slots(&self) -> Vec<Slot> {
        let tables = self.dynamic.relocations.iter();
        let all = tables.flat_map(|(table, size)| table_of::<Relocation>(*table, *size));
        all.filter_map(|relocation| {
            let symbol = self.symbol((relocation.info >> 32) as usize)?;
            let name = self.name_of(&symbol)?.to_bytes();
            if !name.starts_with(PREFIX) {
                return None;
            }
            let place = self.base + relocation.offset as usize;
            // SAFETY: the loader writes an address there; it is aligned, but where the linker packed it.
            let target = unsafe { (place as *const usize).read_unaligned() };
            Some(Slot {
                name: String::from_utf8_lossy(name).into_owned(),
                target,
            })
        })
        .collect()
    }

    fn symbol(&self, index: usize) -> Option<Symbol> {
        if index == 0 || self.dynamic.symbols == 0 {
            return None;
        }
        // SAFETY: an index that the linker wrote, into the table that the loader uses.
        Some(unsafe { *(self.dynamic.symbols as *const Symbol).add(index) })
    }

    fn name_of(&self, symbol: &Symbol) -> Option<&CStr> {
        if self.dynamic.strings == 0 {
            return None;
        }
        let at = self.dynamic.strings + symbol.name as usize;
        // SAFETY: a text with a zero octet, by the format.
        Some(unsafe { CStr::from_ptr(at as *const c_char) })
    }

    /// The address of a function that it defines.
    fn function(&self, name: &CStr) -> Option<usize> {
        let is = |symbol: &Symbol| {
            symbol.section != 0 && self.name_of(symbol).is_some_and(|other| other == name)
        };
        let found = self.indices(name).find_map(|index| {
            let symbol = self.symbol(index)?;
            is(&symbol).then_some(symbol)
        })?;
        Some(self.base + found.value as usize)
    }

    /// The symbols among which one with that name would be.
    fn indices(&self, name: &CStr) -> Box<dyn Iterator<Item = usize>> {
        if self.dynamic.gnu_hash != 0 {
            return Box::new(GnuHash::at(self.dynamic.gnu_hash).chain(name.to_bytes()));
        }
        if self.dynamic.hash == 0 {
            return Box::new(std::iter::empty());
        }
        // SAFETY: the table of the format: numbers of buckets and of symbols first.
        let count = unsafe { *(self.dynamic.hash as *const u32).add(1) };
        Box::new(1..count as usize)
    }
}

/// The table of the format with this address.
fn table_of<T>(at: usize, size: usize) -> &'static [T] {
    if at == 0 {
        return &[];
    }
    // SAFETY: address and size are those by which the loader reads it.
    unsafe { slice::from_raw_parts(at as *const T, size / size_of::<T>()) }
}

impl Dynamic {
    fn read(base: usize, at: usize) -> Self {
        // Some loaders write addresses there, others leave those of the file.
        let address = |value: u64| match value as usize {
            value if value < base => base + value,
            value => value,
        };
        let mut dynamic = Dynamic::default();
        let [immediate, lazy] = &mut dynamic.relocations;
        let mut entry = at as *const [u64; 2];
        loop {
            // SAFETY: the table ends with the entry that ends this.
            let [tag, value] = unsafe { *entry };
            match tag {
                DT_NULL => return dynamic,
                DT_SYMTAB => dynamic.symbols = address(value),
                DT_STRTAB => dynamic.strings = address(value),
                DT_HASH => dynamic.hash = address(value),
                DT_GNU_HASH => dynamic.gnu_hash = address(value),
                DT_RELA => immediate.0 = address(value),
                DT_RELASZ => immediate.1 = value as usize,
                DT_JMPREL => lazy.0 = address(value),
                DT_PLTRELSZ => lazy.1 = value as usize,
                _ => {}
            }
            // SAFETY: within the table, as it has not ended.
            entry = unsafe { entry.add(1) };
        }
    }
}

/// The hash table of GNU's linker.
#[derive(Clone, Copy)]
struct GnuHash {
    buckets: *const u32,
    bucket_count: u32,
    chains: *const u32,
    first: u32,
}

impl GnuHash {
    fn at(address: usize) -> Self {
        let head = address as *const u32;
        // SAFETY: the format: four numbers, a filter of 64-bit words, buckets, chains.
        unsafe {
            let (bucket_count, first, words) = (*head, *head.add(1), *head.add(2));
            let buckets = head.add(4).cast::<u64>().add(words as usize).cast::<u32>();
            GnuHash {
                buckets,
                bucket_count,
                chains: buckets.add(bucket_count as usize),
                first,
            }
        }
    }

    /// The symbols with the hash of this name.
    fn chain(self, name: &[u8]) -> impl Iterator<Item = usize> + use<> {
        let hash = name.iter().fold(5381_u32, |hash, octet| {
            hash.wrapping_mul(33).wrapping_add(u32::from(*octet))
        });
        let mut index = match self.bucket_count {
            0 => 0,
            // SAFETY: one of the buckets.
            count => unsafe { *self.buckets.add((hash % count) as usize) },
        };
        std::iter::from_fn(move || {
            while index >= self.first && index != 0 {
                // SAFETY: the chain of a bucket goes on until a number that is odd.
                let found = unsafe { *self.chains.add((index - self.first) as usize) };
                let at = index as usize;
                index = if found & 1 == 1 { 0 } else { index + 1 };
                if found | 1 == hash | 1 {
                    return Some(at);
                }
            }
            None
        })
    }
}
