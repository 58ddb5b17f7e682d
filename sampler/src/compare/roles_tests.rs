use super::*;

fn totals(values: [Option<u64>; 2]) -> Totals {
    let mut made = Totals::new(2);
    for (column, value) in values.into_iter().enumerate() {
        made.values[column] = value.unwrap_or(0);
        made.given |= Mask::from(value.is_some()) << column;
    }
    made
}

fn cpu(value: u64) -> Totals {
    totals([Some(value), None])
}

fn sums() -> RoleSums {
    RoleSums::new(RoleNames::default(), 63, 2)
}

type Live<'a> = (&'a str, [Option<u64>; 2]);

fn reported(sums: &mut RoleSums, live: &[Live<'_>]) -> Vec<(String, u64, u64, Totals)> {
    let made = sums.summary(live.iter().map(|(name, _)| Some(*name)), |places, sums| {
        for (place, (_, values)) in places.iter().zip(live) {
            sums[place.unwrap()].add(&totals(*values));
        }
    });
    let role = |one: RoleTotals| {
        (one.role.unwrap_or_else(|| "further".into()), one.live, one.exited, one.totals)
    };
    made.into_iter().map(role).collect()
}

fn role(
    name: &str,
    live: u64,
    exited: u64,
    values: [Option<u64>; 2],
) -> (String, u64, u64, Totals) {
    (name.into(), live, exited, totals(values))
}

#[test]
fn rows_of_a_role_add_up_and_absent_values_are_left_out() {
    let live = [
        ("io-1", [Some(1), Some(2)]),
        ("main", [Some(10), None]),
        ("io-22", [Some(3), None]),
        ("io-3", [Some(1 << 63), Some(7)]),
    ];
    assert_eq!(
        reported(&mut sums(), &live),
        [role("io-#", 3, 0, [Some((1 << 63) + 4), Some(9)]), role("main", 1, 0, [Some(10), None])]
    );
}

#[test]
fn the_ended_stay() {
    let mut sums = sums();
    sums.ended("io-1", &cpu(5));
    let live = [("io-2", [Some(2), Some(1)])];
    assert_eq!(reported(&mut sums, &live), [role("io-#", 1, 1, [Some(7), Some(1)])]);
    assert_eq!(reported(&mut sums, &[]), [role("io-#", 0, 1, [Some(5), None])]);
}

#[test]
fn what_was_done_under_a_name_stays_with_its_role() {
    let mut sums = sums();
    reported(&mut sums, &[("main", [Some(100), None])]);
    sums.renamed("main", "io-1", &cpu(100));
    let live = [("io-1", [Some(130), Some(4)])];
    let roles = reported(&mut sums, &live);
    assert_eq!(roles[0], role("main", 0, 0, [Some(100), None]));
    assert_eq!(roles[1], role("io-#", 1, 0, [Some(30), Some(4)]));
    // Another number is the same role.
    sums.renamed("io-1", "io-2", &totals([Some(130), Some(4)]));
    assert_eq!(reported(&mut sums, &[("io-2", live[0].1)]), roles);
    sums.ended("io-2", &totals([Some(131), Some(4)]));
    assert_eq!(reported(&mut sums, &[])[1], role("io-#", 0, 1, [Some(31), Some(4)]));
}

#[test]
fn a_late_record_corrects_and_an_heir_counts_once() {
    let mut sums = sums();
    sums.ended("io-1", &cpu(5));
    sums.corrected("io-1", &cpu(5), &totals([Some(8), Some(2)]));
    assert_eq!(reported(&mut sums, &[])[0], role("io-#", 0, 1, [Some(8), Some(2)]));
    // The thread lives on as the program that it executed, with counters that went on.
    sums.brought("program", &totals([Some(8), Some(2)]));
    let roles = reported(&mut sums, &[("program", [Some(9), Some(2)])]);
    assert_eq!(roles[1], role("program", 1, 0, [Some(1), Some(0)]));
    assert_eq!(roles[0], role("io-#", 0, 1, [Some(8), Some(2)]));
}

#[test]
fn roles_beyond_the_bound_share_one_place() {
    let mut sums = sums();
    let letters = |number: u32| -> String {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    };
    let names: Vec<String> = (0..200).map(letters).collect();
    let live: Vec<Live<'_>> =
        names.iter().map(|name| (name.as_str(), [Some(1), Some(1)])).collect();
    let roles = reported(&mut sums, &live);
    assert_eq!((roles.len(), &roles[62].0, roles[63].0.as_str()), (64, &names[62], "further"));
    assert_eq!(roles[63], role("further", 137, 0, [Some(137), Some(137)]));
    // Roles keep their places while threads come and go.
    assert!(reported(&mut sums, &live[199..])
        .iter()
        .map(|one| &one.0)
        .eq(roles.iter().map(|one| &one.0)));
    sums.renamed(&names[0], &names[199], &totals([Some(1), Some(1)]));
    sums.renamed(&names[198], &names[199], &totals([Some(1), Some(1)]));
    let mut later = live[1..199].to_vec();
    later.extend([live[199]; 2]);
    let roles = reported(&mut sums, &later);
    assert_eq!(roles[0].3, totals([Some(1), Some(1)]));
    assert_eq!(roles[63].3, totals([Some(137), Some(137)]));
}

#[test]
fn names_without_end_fill_nothing() {
    let mut sums = sums();
    for number in 0..2 * MAX_NAMES {
        sums.brought(&format!("job-{number}"), &Totals::new(2));
    }
    assert!(sums.place_of_name.len() <= MAX_NAMES);
    // Names of ended threads are not kept.
    let mut sums = self::sums();
    for number in 0..100 {
        let name = format!("task-{number}");
        reported(&mut sums, &[("main", [Some(1), None]), (&name, [Some(2), None])]);
        sums.ended(&name, &cpu(1));
        assert_eq!(sums.place_of_name.len(), 1);
    }
    assert_eq!(reported(&mut sums, &[])[1].2, 100);
}

#[test]
fn a_counter_that_was_settled_below_what_it_was_at_the_renaming_is_0() {
    let mut sums = sums();
    sums.renamed("main", "io-1", &cpu(100));
    assert_eq!(reported(&mut sums, &[("io-1", [Some(60), None])])[1].3, cpu(0));
}

#[test]
fn the_rules_of_a_person_merge_roles_and_keep_names_apart() {
    let rules = [("http-*", "web"), ("shard-?", "*")].map(|(one, role)| (one.into(), role.into()));
    let mut sums = RoleSums::new(RoleNames::new([], rules), 63, 2);
    sums.ended("http-9-Poller", &cpu(1));
    let live = [("http-1-exec-1", 2), ("shard-1", 3), ("shard-2", 4), ("main", 5)];
    let live = live.map(|(name, cpu)| (name, [Some(cpu), None]));
    let cpu: Vec<(String, u64)> = reported(&mut sums, &live)
        .into_iter()
        .map(|(role, _, _, totals)| (role, totals.values[0]))
        .collect();
    let expected = [("web", 3), ("shard-1", 3), ("shard-2", 4), ("main", 5)];
    assert!(cpu.iter().map(|(role, cpu)| (role.as_str(), *cpu)).eq(expected));
}
