//! Tables of any contents: what a reader of the frames knows after each of them.
//!
//! The reader is one of FlatBuffers and of the Arrow format that shares nothing with the encoder.

use std::collections::BTreeMap;

use super::arrow::Kind;
use super::table_changes::TableChanges;
use super::tables::{Column, RowKind, Shape, Table, Texts};
use crate::fuzzing::{fuzz, Random};

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Text(String),
}

/// Rows by their keys.
type Rows = BTreeMap<Vec<u64>, Vec<Value>>;

fn little<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + N].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

fn place(bytes: &[u8], at: usize) -> usize {
    at + little::<4>(bytes, at) as usize
}

/// Offset of a member of a FlatBuffers table, or None if it is absent.
fn member(bytes: &[u8], table: usize, number: usize) -> Option<usize> {
    let vtable = (table as i64 - i64::from(little::<4>(bytes, table) as i32)) as usize;
    let at = 4 + 2 * number;
    let has = at + 2 <= little::<2>(bytes, vtable) as usize;
    let offset = if has { little::<2>(bytes, vtable + at) as usize } else { 0 };
    (offset != 0).then_some(table + offset)
}

/// Message at the beginning of a stream: its kind, its table, its metadata, and what follows these.
fn message(stream: &[u8]) -> (u8, usize, &[u8], &[u8]) {
    assert_eq!(little::<4>(stream, 0), 0xFFFF_FFFF);
    let length = little::<4>(stream, 4) as usize;
    assert_eq!(length % 8, 0);
    let (metadata, rest) = stream[8..].split_at(length);
    let root = place(metadata, 0);
    let header = place(metadata, member(metadata, root, 2).unwrap());
    (metadata[member(metadata, root, 1).unwrap()], header, metadata, rest)
}

fn check_schema(metadata: &[u8], header: usize, shape: &Shape) {
    let fields = place(metadata, member(metadata, header, 1).unwrap());
    assert_eq!(little::<4>(metadata, fields) as usize, shape.columns.len());
    for (number, (name, kind)) in shape.columns.iter().enumerate() {
        let field = place(metadata, fields + 4 + 4 * number);
        let text = place(metadata, member(metadata, field, 0).unwrap());
        let length = little::<4>(metadata, text) as usize;
        assert_eq!(&metadata[text + 4..][..length], name.as_bytes());
        let encoded = metadata[member(metadata, field, 2).unwrap()];
        let of = place(metadata, member(metadata, field, 3).unwrap());
        let bits = member(metadata, of, 0).map(|at| little::<4>(metadata, at));
        let wanted = match kind {
            Kind::Text => (5, None),
            Kind::U32 => (2, Some(32)),
            Kind::U64 | Kind::I64 => (2, Some(64)),
        };
        assert_eq!((encoded, bits), wanted);
    }
}

/// Values of a stream of one batch, a row each.
fn read(stream: &[u8], shape: &Shape) -> Vec<Vec<Value>> {
    let (kind, header, metadata, rest) = message(stream);
    assert_eq!(kind, 1);
    check_schema(metadata, header, shape);
    let (kind, header, metadata, body) = message(rest);
    assert_eq!(kind, 3);
    let rows = little::<8>(metadata, member(metadata, header, 0).unwrap()) as usize;
    let nodes = place(metadata, member(metadata, header, 1).unwrap());
    let buffers = place(metadata, member(metadata, header, 2).unwrap());
    let mut next = 0;
    let mut buffer = || {
        let at = buffers + 4 + 16 * next;
        next += 1;
        let [start, length] = [at, at + 8].map(|at| little::<8>(metadata, at) as usize);
        assert_eq!(start % 8, 0);
        &body[start..start + length]
    };
    let mut values = vec![Vec::new(); rows];
    for (number, (_, kind)) in shape.columns.iter().enumerate() {
        let node = nodes + 4 + 16 * number;
        assert_eq!(
            (little::<8>(metadata, node), little::<8>(metadata, node + 8)),
            (rows as u64, 0)
        );
        assert!(buffer().is_empty());
        let data = buffer();
        let text = if *kind == Kind::Text { buffer() } else { &[] };
        for (row, into) in values.iter_mut().enumerate() {
            into.push(match kind {
                Kind::U32 => Value::Number(little::<4>(data, 4 * row)),
                Kind::U64 | Kind::I64 => Value::Number(little::<8>(data, 8 * row)),
                Kind::Text => {
                    let [start, end] = [row, row + 1].map(|n| little::<4>(data, 4 * n) as usize);
                    Value::Text(String::from_utf8(text[start..end].to_vec()).unwrap())
                }
            });
        }
    }
    assert_eq!(little::<4>(metadata, buffers) as usize, next);
    assert_eq!(body[body.len() - 8..], [255, 255, 255, 255, 0, 0, 0, 0]);
    values
}

fn shapes() -> Vec<Shape> {
    use Kind::{Text, U32, U64};
    let shape = |name: &str, keys: usize, rows: RowKind, columns: &[Kind]| Shape {
        name: name.into(),
        columns: columns.iter().enumerate().map(|(n, kind)| (format!("c{n}"), *kind)).collect(),
        keys,
        rows,
    };
    vec![
        shape("stays", 3, RowKind::Figures, &[U32, U32, U32, U64]),
        shape("wakes", 2, RowKind::Figures, &[U32, U32, U32, U64, U64, Text]),
        shape("names", 1, RowKind::Names, &[U32, Text, Text]),
        shape("samples", 1, RowKind::Log, &[U32, U32, U64, Text]),
    ]
}

fn table(random: &mut Random, shape: &Shape, rows: &Rows) -> Table {
    let mut order: Vec<_> = rows.iter().collect();
    if random.one_in(4) {
        order.reverse();
    }
    let columns = shape.columns.iter().enumerate().map(|(number, (_, kind))| {
        let values = order.iter().map(|(key, values)| match number.checked_sub(key.len()) {
            None => Value::Number(key[number]),
            Some(number) => values[number].clone(),
        });
        let numbers = values.clone().filter_map(|value| match value {
            Value::Number(number) => Some(number),
            Value::Text(_) => None,
        });
        match kind {
            Kind::U32 => Column::U32(numbers.map(|number| number as u32).collect()),
            Kind::U64 | Kind::I64 => Column::U64(numbers.collect()),
            Kind::Text => {
                let mut texts = Texts::default();
                for value in values {
                    if let Value::Text(text) = value {
                        texts.push(&text);
                    }
                }
                Column::Text(texts)
            }
        }
    });
    Table::of(shape, columns.collect()).unwrap()
}

/// Puts a row into a table, or takes one out.
fn change(random: &mut Random, shape: &Shape, rows: &mut Rows) {
    let key: Vec<u64> = (0..shape.keys)
        .map(|_| if random.one_in(20) { random.next() >> 32 } else { random.below(3) as u64 })
        .collect();
    if random.one_in(3) || rows.len() > 40 {
        let at = random.below(rows.len() + 1);
        let removed = rows.keys().nth(at).cloned();
        rows.remove(&removed.unwrap_or(key));
        return;
    }
    let values = shape.columns[shape.keys..].iter().map(|(_, kind)| match kind {
        Kind::U32 => Value::Number(random.number() & 0xFFFF_FFFF),
        Kind::U64 | Kind::I64 => Value::Number(random.number()),
        Kind::Text => {
            let bytes: Vec<u8> = (0..random.below(20)).map(|_| random.next() as u8).collect();
            Value::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
    });
    rows.insert(key, values.collect());
}

/// True for a row that stands for a deleted one.
fn is_deleted(shape: &Shape, values: &[Value]) -> bool {
    let figures = shape.columns[shape.keys..].iter().zip(values);
    let mut figures = figures.filter(|one| one.0 .1 == Kind::U64);
    shape.rows == RowKind::Figures && figures.all(|one| *one.1 == Value::Number(0))
}

#[test]
fn tables_of_frames() {
    let shapes = shapes();
    let mut changes = TableChanges::new(shapes.clone()).unwrap();
    let [mut now, mut taken, mut known]: [Vec<Rows>; 3] = [(); 3].map(|()| vec![Rows::new(); 4]);
    fuzz("frame tables", |random| {
        for (shape, rows) in shapes.iter().zip(&mut now) {
            for _ in 0..random.below(4) {
                change(random, shape, rows);
            }
        }
        let left_out = if random.one_in(10) { random.below(4) } else { 4 };
        if !random.one_in(8) {
            let places = (0..4).filter(|&place| place != left_out).collect::<Vec<_>>();
            let tables: Vec<(usize, Table)> = places
                .into_iter()
                .map(|place| (place, table(random, &shapes[place], &now[place])))
                .collect();
            for (place, (shape, rows)) in shapes.iter().zip(&mut taken).enumerate() {
                if shape.rows != RowKind::Log {
                    rows.clear();
                }
                if place != left_out {
                    rows.extend(now[place].clone());
                }
            }
            changes.take(tables, random.number() as i64);
        } else if random.one_in(2) {
            return false;
        }
        let whole = random.one_in(8);
        if whole {
            known.iter_mut().for_each(Rows::clear);
        }
        let encoded = changes.next(whole);
        let mut start = 0;
        for described in encoded.described {
            let place = shapes.iter().position(|shape| shape.name == described.name).unwrap();
            let (shape, known) = (&shapes[place], &mut known[place]);
            let stream = &encoded.bytes[start..start + described.bytes];
            start += described.bytes;
            let rows = read(stream, shape);
            assert_eq!((rows.len(), described.omitted), (described.rows, 0));
            for mut row in rows {
                let values = row.split_off(shape.keys);
                let key = row.into_iter().map(|value| match value {
                    Value::Number(number) => number,
                    Value::Text(text) => panic!("a key {text}"),
                });
                if is_deleted(shape, &values) {
                    known.remove(&key.collect::<Vec<_>>());
                } else {
                    known.insert(key.collect(), values);
                }
            }
        }
        assert_eq!(start, encoded.bytes.len());
        for ((shape, known), taken) in shapes.iter().zip(&mut known).zip(&mut taken) {
            if shape.rows == RowKind::Log {
                // Rows that waited are in this frame, and in no other.
                assert_eq!(std::mem::take(known), std::mem::take(taken));
                continue;
            }
            let mut wanted = taken.clone();
            wanted.retain(|_, values| !is_deleted(shape, values));
            if shape.rows == RowKind::Figures || whole {
                assert_eq!(*known, wanted, "{}", shape.name);
            } else {
                // Names are not deleted.
                assert!(wanted.iter().all(|(key, values)| known.get(key) == Some(values)));
            }
        }
        !encoded.described.is_empty()
    });
}
