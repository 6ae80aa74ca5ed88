//! Products of bf16 with AMX, the tile registers of Intel's servers.
//!
//! Rust has no intrinsics for tiles yet, so the instructions are written in assembly. Eight registers hold a tile
//! each: four sums, two tiles of the left-hand side and two of the right-hand side.

use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::avx512::Avx512;
use super::{LINES, Step, Tile, Unit, WIDTH, span};

/// AMX with bf16, and AVX-512 to round with. The tile registers of the thread are in use as long as there is a value:
/// there may be one in a thread at a time.
pub(crate) struct Amx {
    avx512: Avx512,
    /// The registers are a thread's own.
    stays_in_thread: PhantomData<*const ()>,
}

impl Amx {
    /// Whether the CPU has the instructions and the system lets this process use them.
    pub(crate) fn is_available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        *AVAILABLE.get_or_init(|| Avx512::is_available() && has_tiles() && may_use_tiles())
    }

    /// Configures the tile registers. Panics if there are none.
    pub(crate) fn new() -> Self {
        assert!(Self::is_available(), "this CPU has no AMX-BF16");
        // SAFETY: the CPU has the instruction, and the configuration is a valid one: palette 1 has eight tiles of up to
        // 16 rows of up to 64 bytes.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &Configuration::WHOLE_TILES,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, readonly, preserves_flags));
        }
        Amx { avx512: Avx512::new(), stays_in_thread: PhantomData }
    }
}

impl Drop for Amx {
    fn drop(&mut self) {
        // SAFETY: the CPU has the instruction; nothing else uses tiles. Without state in tiles, the system has less to
        // save when it switches threads.
        unsafe {
            asm!("tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nomem, nostack, preserves_flags));
        }
    }
}

impl Unit for Amx {
    fn round_rows(&self, to: &mut Tile, from: &[f32], stride: usize) {
        self.avx512.round_rows(to, from, stride);
    }

    fn round_pairs(&self, to: &mut Tile, from: &[f32], stride: usize) {
        self.avx512.round_pairs(to, from, stride);
    }

    fn transpose(&self, to: &mut Tile, from: &Tile) {
        self.avx512.transpose(to, from);
    }

    fn multiply(&self, c: &mut [f32], stride: usize, adds: bool, a: &[Step], b: &[Step], _rows: usize) {
        assert!(c.len() >= span(WIDTH, WIDTH, stride) && !a.is_empty() && a.len() == b.len());
        // SAFETY: the tiles are configured as long as there is `self`; `c` has two by two tiles whose rows begin `stride`
        // apart; both panels have as many steps as are counted down, of two tiles of 1024 bytes each.
        unsafe {
            asm!(
                "test {adds:e}, {adds:e}",
                "jz 2f",
                "tileloadd tmm0, [{upper} + {row} * 1]",
                "tileloadd tmm1, [{upper} + {row} * 1 + 64]",
                "tileloadd tmm2, [{lower} + {row} * 1]",
                "tileloadd tmm3, [{lower} + {row} * 1 + 64]",
                "jmp 3f",
                "2:",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "3:",
                "tileloadd tmm4, [{a} + {line} * 1]",
                "tileloadd tmm6, [{b} + {line} * 1]",
                "tileloadd tmm7, [{b} + {line} * 1 + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm5, [{a} + {line} * 1 + 1024]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {a}, 2048",
                "add {b}, 2048",
                "dec {steps}",
                "jnz 3b",
                "tilestored [{upper} + {row} * 1], tmm0",
                "tilestored [{upper} + {row} * 1 + 64], tmm1",
                "tilestored [{lower} + {row} * 1], tmm2",
                "tilestored [{lower} + {row} * 1 + 64], tmm3",
                adds = in(reg) u32::from(adds),
                upper = in(reg) c.as_mut_ptr(),
                lower = in(reg) c[LINES * stride..].as_mut_ptr(),
                row = in(reg) stride * size_of::<f32>(),
                a = inout(reg) a.as_ptr() => _,
                b = inout(reg) b.as_ptr() => _,
                line = in(reg) size_of::<[u32; LINES]>(),
                steps = inout(reg) a.len() => _,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

/// The operand of the instruction `ldtilecfg`.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

impl Configuration {
    const WHOLE_TILES: Self = {
        let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
        let mut tile = 0;
        while tile < 8 {
            row_bytes[tile] = size_of::<[u32; LINES]>() as u16;
            rows[tile] = LINES as u8;
            tile += 1;
        }
        Configuration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes, rows }
    };
}

/// Whether the CPU has tiles that multiply bf16, and the system saves them when it switches threads.
fn has_tiles() -> bool {
    const AMX_BF16: u32 = 1 << 22;
    const AMX_TILE: u32 = 1 << 24;
    const TILE_STATE: u64 = 1 << 17 | 1 << 18;
    let features = __cpuid_count(7, 0).edx;
    if features & (AMX_BF16 | AMX_TILE) != AMX_BF16 | AMX_TILE {
        return false;
    }
    #[target_feature(enable = "xsave")]
    fn saved_state() -> u64 {
        // SAFETY: register 0 exists wherever the instruction does.
        unsafe { _xgetbv(0) }
    }
    // SAFETY: a CPU with AMX has the instruction, and a system with AVX-512, which was asked for first, allows it.
    let saved = unsafe { saved_state() };
    saved & TILE_STATE == TILE_STATE
}

/// Asks Linux to let this process use tiles; other systems are not known to.
fn may_use_tiles() -> bool {
    const ARCH_PRCTL: isize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    if !cfg!(target_os = "linux") {
        return false;
    }
    let result: isize;
    // SAFETY: the call takes two numbers and changes no memory of the process.
    unsafe {
        asm!("syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            out("rcx") _,
            out("r11") _,
            options(nostack));
    }
    result == 0
}
