//! The pages of a program that only its start has read: its settings, its keys, Python's modules.
//!
//! The kernel maps a page of a program, and some beside it, when it is touched, and leaves it mapped until memory is short. On a
//! small machine that counts: most of what is resident after a start is never touched again.

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::ptr;

#[cfg(target_pointer_width = "64")]
type Header = libc::Elf64_Phdr;
#[cfg(target_pointer_width = "32")]
type Header = libc::Elf32_Phdr;

/// What of an object, as the loader has laid it, is only read from its file.
fn read_only(headers: &[Header], laid_at: usize, page: usize) -> impl Iterator<Item = Range<usize>> {
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0);
    loaded.map(move |header| {
        let from = laid_at + header.p_vaddr as usize;
        from - from % page..(from + header.p_memsz as usize).next_multiple_of(page)
    })
}

/// Unmaps what is read-only of this program and its libraries. What is touched again is mapped again, from the page cache: a
/// few hundred times half a microsecond.
///
/// # Errors
/// The system's.
pub fn give_back_start() -> io::Result<()> {
    let mut failed: Option<io::Error> = None;
    // SAFETY: the callback is as the C library wants it, and `failed` lives as long as the call.
    unsafe { libc::dl_iterate_phdr(Some(give_back), (&raw mut failed).cast()) };
    failed.map_or(Ok(()), Err)
}

/// Called once for each object, while the loader lays and removes none.
unsafe extern "C" fn give_back(
    object: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    failed: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: whoever calls gives an object, whose headers and name stay for the call, and what `give_back_start` gave it.
    let (headers, laid_at, name, failed) = unsafe {
        let info = &*object;
        let headers = if info.dlpi_phdr.is_null() {
            &[]
        } else {
            std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum))
        };
        let name = if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) };
        (headers, info.dlpi_addr as usize, name, &mut *failed.cast::<Option<io::Error>>())
    };
    // The kernel's own comes from no file.
    if name.to_bytes().starts_with(b"linux-") {
        return 0;
    }
    for pages in read_only(headers, laid_at, page_bytes()) {
        let from = ptr::with_exposed_provenance_mut(pages.start);
        // SAFETY: these pages are mapped from a file, and nobody has written to them: they were never writable, the loader's
        // own relocations are in other segments, and it unmaps none meanwhile. So they hold the same when they are read again.
        if unsafe { libc::madvise(from, pages.len(), libc::MADV_DONTNEED) } != 0 {
            *failed = Some(io::Error::last_os_error());
            return 1;
        }
    }
    0
}

fn page_bytes() -> usize {
    // SAFETY: no pointer in it.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Kibibytes of files that are mapped now, as the kernel counts them.
    fn mapped_kib() -> u64 {
        let status = fs::read_to_string("/proc/self/status").expect("read");
        let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).expect("there");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    fn header(p_type: u32, p_flags: u32, p_vaddr: u32, p_memsz: u32) -> Header {
        let (p_vaddr, p_memsz) = (p_vaddr.into(), p_memsz.into());
        Header { p_type, p_flags, p_offset: 0, p_vaddr, p_paddr: 0, p_filesz: 0, p_memsz, p_align: 0 }
    }

    /// Is what may be written, which holds what the loader has put there, left alone?
    #[test]
    fn only_what_is_loaded_and_never_written_is_given_back() {
        let headers = [
            header(libc::PT_PHDR, libc::PF_R, 0x40, 0x300),
            header(libc::PT_LOAD, libc::PF_R, 0, 0x1234),
            header(libc::PT_LOAD, libc::PF_R | libc::PF_X, 0x2234, 0x1000),
            header(libc::PT_LOAD, libc::PF_R | libc::PF_W, 0x4000, 0x1000),
            header(libc::PT_GNU_RELRO, libc::PF_R, 0x4000, 0x800),
        ];
        let found: Vec<_> = read_only(&headers, 0x10000, 0x1000).collect();
        assert_eq!(found, [0x10000..0x12000, 0x12000..0x14000]);
    }

    /// Is less mapped then, and does all go on: what is read again, written before, or run by another thread meanwhile?
    #[test]
    fn what_is_used_comes_back() {
        static TABLE: [u64; 4096] = [7; 4096];
        let others = std::thread::spawn(|| (0..200_000_u64).map(|n| TABLE[(n % 4096) as usize]).sum::<u64>());
        let before = mapped_kib();
        give_back_start().expect("given back");
        let after = mapped_kib();
        assert!(after < before, "{after} KiB of {before} KiB");
        assert_eq!(others.join().expect("ended"), 1_400_000);
        assert_eq!(format!("{:?}", TABLE.iter().max()), "Some(7)");
    }
}
