use super::super::layout::Kernel;
use super::super::testing::{kernel, Pad, Record};
use super::*;

const MEMBERS: [&str; 3] = ["cpu_run_virtual_total", "ac_utime", "ac_stime"];
const SINCE_NS: i64 = 100_000_000_000;
const BEFORE_NS: i64 = 101_000_000_000;

fn kernel_of(version: u16) -> Kernel {
    kernel(version, Pad::None)
}

/// Records of one drain, which came a second after the drain before.
fn records(kernel: &Kernel, made: &[Record]) -> Records {
    let mut records = Records::default();
    records.begin(&kernel.layout, SINCE_NS, BEFORE_NS);
    for (number, record) in (0..).zip(made) {
        let version = kernel.layout.version;
        records.push(&Record { version, ..record.clone() }.stats(), 0, number);
    }
    records
}

/// Exits and codes of processes 40 and 41, which began at this moment.
fn decoded(kernel: &Kernel, records: &Records, began_ns: Option<i64>) -> (Exits, Vec<ExitCode>) {
    let decoder = Decoder::new(&kernel.layout, MEMBERS, 0, 0).unwrap();
    let (mut exits, mut codes) = (Exits::new(MEMBERS.len()), Vec::new());
    let is_member = |process| process == 40 || process == 41;
    let layout = &kernel.layout;
    records.decode(layout, &decoder, is_member, |_| began_ns, &mut exits, &mut codes);
    (exits, codes)
}

fn of(tid: u32, process: u64) -> Record {
    Record::of(tid).with("ac_tgid", process)
}

#[test]
fn records_of_members_are_decoded_with_their_ages() {
    let kernel = kernel_of(16);
    let made = [of(51, 40), of(52, 99), of(53, 41).with("ac_etime", 7_000_000)];
    let (exits, codes) = decoded(&kernel, &records(&kernel, &made), None);
    assert_eq!((&exits.rows.tid[..], &exits.rows.process[..]), (&[51, 53][..], &[40, 41][..]));
    assert_eq!((&exits.age_us[..], exits.drained_ns), (&[5_000_000, 7_000_000][..], BEFORE_NS));
    assert_eq!(exits.rows.start_ns, [BEFORE_NS - 5_000_000_000, BEFORE_NS - 7_000_000_000]);
    assert!(codes.is_empty());
    let mut both = exits.clone();
    both.append(&exits);
    assert_eq!(both.rows.len(), 4);
}

#[test]
fn a_kernel_that_does_not_tell_processes_gives_all_records() {
    let kernel = kernel_of(11);
    let made = [of(51, 40).with("ac_exitcode", 1), of(40, 40).with("ac_exitcode", 9)];
    let (exits, codes) = decoded(&kernel, &records(&kernel, &made), None);
    assert_eq!((&exits.rows.tid[..], &exits.rows.process[..]), (&[51, 40][..], &[0, 0][..]));
    assert_eq!(codes, [ExitCode { process: 40, status: 9 }]);
}

#[test]
fn records_of_a_process_that_got_the_id_of_another_one_are_left_out() {
    let aged = |tid, process, age_ms: u64| of(tid, process).with("ac_tgetime", age_ms * 1000);
    let made = [
        aged(51, 40, 10_002),
        aged(52, 40, 9_500), // was late
        aged(53, 40, 30),
        aged(54, 41, 30),
        aged(55, 99, 30),
    ];
    for version in 12..=16 {
        let kernel = kernel_of(version);
        let records = records(&kernel, &made);
        let tids = |began_ns| decoded(&kernel, &records, began_ns).0.rows.tid;
        // The processes began ten seconds before the first drain, and lived then.
        assert_eq!(tids(Some(SINCE_NS - 10_000_000_000)), [51, 52]);
        // Records of a young process, and of processes of unknown age, are kept whatever their ID.
        assert_eq!(tids(Some(SINCE_NS - 500_000_000)), [51, 52, 53, 54]);
        assert_eq!(tids(None), [51, 52, 53, 54]);
    }
}

#[test]
fn without_a_drain_before_no_record_is_of_a_later_process() {
    let kernel = kernel_of(16);
    let mut first = records(&kernel, &[of(51, 40).with("ac_tgetime", 1)]);
    first.since_ns = 0;
    assert_eq!(decoded(&kernel, &first, Some(10)).0.rows.tid, [51]);
}

#[test]
fn the_last_thread_tells_the_status_of_its_process() {
    let ended = |tid, process, status, flag| {
        of(tid, process).with("ac_exitcode", status).with("ac_flag", flag)
    };
    let made = [
        ended(40, 40, 0, 0x02),      // a main thread that did not wait
        ended(51, 40, 3 << 8, 0x22), // the last one
        ended(99, 99, 1 << 8, 0x20), // of nobody's process
        ended(41, 41, 9, 0xff),
    ];
    let kernel = kernel_of(16);
    let (_, codes) = decoded(&kernel, &records(&kernel, &made), None);
    let wanted = [(40, 3 << 8), (41, 9)].map(|(process, status)| ExitCode { process, status });
    assert_eq!(codes, wanted);
}

#[test]
fn time_in_ticks_stands_in_for_less_time_on_a_cpu() {
    let names = [CPU, TICKS[0], TICKS[1], LEDGER, "state", "state_since_ns"];
    let fields = Fields::new(names).unwrap();
    let mut rows = Rows::new(names.len());
    for (cpu_ns, user_us, absent) in [
        (0, 4000, 0b1000),         // no ledger
        (0, 4000, 0),              // a ledger
        (9_000_000, 4000, 0b1000), // more time on a CPU
        (0, u64::MAX, 0b1000),
    ] {
        let row = rows.push(Default::default());
        rows.set(row, 0, cpu_ns);
        rows.set(row, 1, user_us);
        rows.set(row, 2, 1000);
        rows.absent[row] = absent;
    }
    with_tick_time(&mut rows, &fields);
    assert_eq!(rows.column(0), [5_000_000, 0, 9_000_000, u64::MAX]);
    assert_eq!(rows.invalid, [1, 0, 0, 1]);

    let without = Fields::new(names[..3].to_vec()).unwrap();
    let mut rows = Rows::new(3);
    let row = rows.push(Default::default());
    rows.set(row, 2, 1);
    with_tick_time(&mut rows, &without);
    assert_eq!((rows.get(0, 0), rows.invalid[0]), (1000, 1));
    with_tick_time(&mut rows, &Fields::new([CPU]).unwrap());
    assert_eq!(rows.get(0, 0), 1000);
}
