use super::super::testing::{
    attribute, error, hostile, kernel, message, patched, Pad, Record as Made, FAMILY, PADS,
};
use super::*;
use proptest::prelude::*;

const TID: u32 = 0x0102_0304;

fn refused_by(kernel: &Kernel, datagram: &[u8]) -> Option<Refusal> {
    parse(datagram, kernel).err().map(|Refused(refusal, _)| refusal)
}

fn refusal_of(datagram: &[u8], version: u16) -> Option<Refusal> {
    refused_by(&kernel(version, Pad::None), datagram)
}

fn of(version: u16, pad: Pad) -> Made {
    Made { version, pad, ..Made::of(TID) }
}

#[test]
fn a_reply_of_each_version_is_walked() {
    for version in 8..=16 {
        for pad in PADS {
            let made = of(version, pad);
            let datagram = made.reply(9);
            let kernel = kernel(version, pad);
            let found = parse(&datagram, &kernel).unwrap();
            assert_eq!((found.thread.id, found.process), (TID, None));
            assert_eq!(
                (found.thread.offset, found.thread.stats),
                (kernel.payload, &made.stats()[..])
            );
            assert_eq!((sequence(&datagram), kind(&datagram)), (Some(9), Some(FAMILY)));
        }
    }
}

#[test]
fn an_exit_record_of_each_version_is_walked() {
    for version in 8..=16 {
        for pad in PADS {
            let made = of(version, pad);
            let datagram = made.exit(9, Some(77));
            let found = parse(&datagram, &kernel(version, pad)).unwrap();
            let process = found.process.unwrap();
            assert_eq!((found.thread.id, process.id), (TID, 77));
            assert_eq!(found.thread.stats, made.stats());
            assert_eq!(process.stats.len(), found.thread.stats.len());
        }
    }
}

#[test]
fn attributes_that_are_not_known_are_passed_over() {
    let right = of(16, Pad::None).reply(1);
    let body = [&attribute(99, b"x"), &right[20..], &attribute(98, b"abcdefg")].concat();
    assert_eq!(parse(&message(1, &body), &kernel(16, Pad::None)).unwrap().thread.id, TID);
    let nested = patched(&right, 22, &(4_u16 | 0x8000).to_ne_bytes());
    assert_eq!(refusal_of(&nested, 16), None);
}

#[test]
fn a_message_cut_at_any_byte_is_refused() {
    for version in 8..=16 {
        let kernel = kernel(version, Pad::None);
        let whole = of(version, Pad::None).exit(1, Some(TID - 1));
        let alone = of(version, Pad::None).exit(1, None).len();
        assert_eq!(refused_by(&kernel, &whole), None);
        for cut in 0..whole.len() {
            let short = &whole[..cut];
            let wanted = if cut >= 16 { Refusal::Length } else { Refusal::Short };
            assert_eq!(refused_by(&kernel, short), Some(wanted), "{cut}");
            // And when its own length agrees with the cut; at the end of the first record it is whole.
            if cut >= 4 {
                let agreeing = patched(short, 0, &(cut as u32).to_ne_bytes());
                assert_eq!(refused_by(&kernel, &agreeing).is_none(), cut == alone, "{cut}");
            }
        }
    }
}

#[test]
fn each_wrong_message_is_refused_by_name() {
    for version in [8, 12, 15, 16] {
        for (what, refusal, datagram) in hostile(version, TID, 1) {
            // Ids that differ are known only to who asked.
            if refusal != Refusal::Identity {
                assert_eq!(refusal_of(&datagram, version), Some(refusal), "{what}");
            }
        }
    }
}

#[test]
fn versions_15_and_16_are_distinguished_by_version_alone() {
    for version in [15, 16] {
        let datagram = of(version, Pad::None).reply(1);
        assert_eq!(refusal_of(&datagram, version), None);
        assert_eq!(refusal_of(&datagram, 31 - version), Some(Refusal::Layout));
    }
}

#[test]
fn every_length_of_an_attribute_but_the_right_one_is_refused() {
    let kernel = kernel(16, Pad::None);
    let right = of(16, Pad::None).reply(1);
    for at in [20, 24, 32] {
        let accepted: Vec<u16> = (0..=u16::MAX)
            .filter(|length| {
                refused_by(&kernel, &patched(&right, at, &length.to_ne_bytes())).is_none()
            })
            .collect();
        assert_eq!(accepted, [u16::from_ne_bytes([right[at], right[at + 1]])]);
    }
}

#[test]
fn the_errno_of_an_error_message() {
    assert_eq!(error_code(&error(1, libc::ESRCH)), Some(libc::ESRCH));
    assert_eq!(error_code(&error(1, 0)), Some(0));
    assert_eq!(error_code(&error(1, 4095)), Some(4095));
    for code in [4096, -3, i32::MIN, i32::MAX] {
        assert_eq!(error_code(&error(1, code)), None, "{code}");
    }
    let whole = error(1, libc::EPERM);
    let short = patched(&whole[..20], 0, &20_u32.to_ne_bytes());
    assert_eq!(error_code(&short), Some(libc::EPERM));
    assert_eq!(error_code(&whole[..20]), None); // tells more than it has
    assert_eq!(error_code(&short[..19]), None);
    assert_eq!(error_code(&patched(&whole, 0, &[16, 0])), None); // no room for an errno
    assert_eq!(error_code(&of(16, Pad::None).reply(1)), None);
    assert_eq!(error_code(b""), None);
}

#[test]
fn a_request_is_as_the_kernel_reads_it() {
    let made = request(0x1C, 7, 0x0102_0304);
    let numbers = |bytes: &[u8]| bytes.to_vec();
    assert_eq!(numbers(&made[..4]), 28_u32.to_ne_bytes());
    assert_eq!(numbers(&made[4..8]), [0x1C_u16, 1].map(u16::to_ne_bytes).concat());
    assert_eq!(numbers(&made[8..16]), [7_u32, 0].map(u32::to_ne_bytes).concat());
    assert_eq!(numbers(&made[16..20]), [1, 1, 0, 0]);
    assert_eq!(numbers(&made[20..24]), [8_u16, 1].map(u16::to_ne_bytes).concat());
    assert_eq!(numbers(&made[24..]), 0x0102_0304_u32.to_ne_bytes());
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let kernel = kernel(16, Pad::None);
        prop_assert!(parse(&bytes, &kernel).is_err());
        error_code(&bytes);
    }

    /// A message that is accepted after any change of its headers still has a whole struct of the layout, and
    /// the ID in its attribute.
    #[test]
    fn changed_headers_never_give_a_struct_of_another_length(
        changes in proptest::collection::vec((0_usize..48, any::<u8>()), 0..4),
        last in any::<bool>(),
        pad in 0_usize..3,
    ) {
        let kernel = kernel(13, PADS[pad]);
        let mut datagram = of(13, PADS[pad]).exit(1, last.then_some(77));
        for (at, byte) in changes {
            datagram[at] = byte;
        }
        if let Ok(message) = parse(&datagram, &kernel) {
            let Record { stats, offset, .. } = message.thread;
            prop_assert_eq!(stats.len(), kernel.layout.length);
            prop_assert_eq!(&datagram[offset..offset + stats.len()], stats);
            prop_assert_eq!(&stats[..2], &13_u16.to_ne_bytes());
        }
    }
}
