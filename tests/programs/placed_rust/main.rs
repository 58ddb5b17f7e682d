//! Prints where a generic function begins.

use std::io::{Read, Write};

mod bank {
    #[inline(never)]
    pub fn transfer<T: Copy + Into<u64>>(amount: T) -> u64 {
        std::hint::black_box(amount).into() * 3
    }
}

fn main() {
    let place = bank::transfer::<u32> as fn(u32) -> u64;
    println!("generic {:#x}", place as usize + 1);
    println!("ready");
    std::io::stdout().flush().unwrap();
    let sum = place(7);
    let _ = std::io::stdin().read(&mut [0_u8; 1]);
    assert_eq!(sum, 21);
}
