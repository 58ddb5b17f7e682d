//! Arrow IPC messages: schemas and record batches of numbers and texts.
//!
//! The encoder is our own: a batch needs one message with one fixed layout, which is less code here
//! than the glue to arrow-rs would be. Its crates (arrow-ipc, -schema, -array, -buffer, -data,
//! flatbuffers) are many times the size of this one and take minutes to build. The layout of a batch
//! is that of pyarrow, byte for byte; `tests/with_python.rs` holds both to it.
//!
//! Source: Arrow columnar format, "IPC", `Message.fbs`, `Schema.fbs`; FlatBuffers, "Internals".

/// Types of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    I64,
    /// UTF-8.
    Text,
}

impl Kind {
    /// Buffers of a column: a bitmap and values; texts have offsets in between.
    fn buffers(self) -> usize {
        if self == Self::Text {
            3
        } else {
            2
        }
    }
}

/// End of a stream: a continuation marker and a message of length 0.
pub const END_OF_STREAM: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

const CONTINUATION: [u8; 4] = [0xff; 4];
/// Metadata of a batch in front of its buffers' places: marker, length, tables Message and RecordBatch.
const BATCH_START: [u8; 88] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, // marker; length of the metadata
    20, 0, 0, 0, 0, 0, 0, 0, // Message is 20 bytes behind this offset
    12, 0, 22, 0, 6, 0, 5, 0, 8, 0, 12, 0, // its members: version, kind, header, body length
    12, 0, 0, 0, 0, 3, 4, 0, // Message: kind 3 is RecordBatch, version 4 is V5
    24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // RecordBatch is 24 bytes behind; body length
    0, 0, 10, 0, 24, 0, 12, 0, 4, 0, 8, 0, // its members: length, nodes, buffers
    10, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, // RecordBatch: offsets of nodes and of buffers
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // length; padding
    0, 0, 0, 0, // number of buffers
];
const METADATA_LENGTH: usize = 4;
const BODY_LENGTH: usize = 40;
const NODES_OFFSET: usize = 64;
const ROWS: usize = 72;
const BUFFER_COUNT: usize = 84;
const BUFFERS: usize = BATCH_START.len();

/// Writes the message of one record batch into a buffer that is used again and again.
///
/// Columns are written in order, each by one call. The buffer keeps its length, so that no byte is
/// written twice.
pub struct Batch<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    rows: usize,
    nodes: usize,
    node_end: usize,
    buffer: usize,
    buffer_end: usize,
    body: usize,
    at: usize,
}

impl<'a> Batch<'a> {
    /// Begins a batch at `start` of a buffer, whose bytes from there on are overwritten.
    ///
    /// `kinds` gives the kind of each column that follows.
    pub fn begin(
        out: &'a mut Vec<u8>,
        start: usize,
        rows: usize,
        kinds: impl Iterator<Item = Kind>,
    ) -> Self {
        let (columns, buffers) =
            kinds.fold((0, 0), |(columns, buffers), kind| (columns + 1, buffers + kind.buffers()));
        let node_count = BUFFERS + 16 * buffers + 4;
        let size = node_count + 4 + 16 * columns;
        let mut batch = Self {
            out,
            start,
            rows,
            nodes: start + node_count + 4,
            node_end: start + size,
            buffer: start + BUFFERS,
            buffer_end: start + node_count - 4,
            body: start + size,
            at: start + size,
        };
        batch.reserve(size);
        batch.bytes_at(start, &BATCH_START);
        batch.number_at(start + METADATA_LENGTH, size - 8);
        batch.number_at(start + NODES_OFFSET, node_count - NODES_OFFSET);
        batch.long_at(start + ROWS, rows);
        batch.number_at(start + BUFFER_COUNT, buffers);
        batch.number_at(start + node_count - 4, 0);
        batch.number_at(start + node_count, columns);
        batch
    }

    /// Writes a column of 32-bit numbers, one for each row.
    pub fn u32s(&mut self, values: impl Iterator<Item = u32>) {
        self.node(0);
        self.entry(0);
        self.words(values.map(u32::to_le_bytes));
    }

    /// Writes a column of 64-bit numbers, one for each row.
    pub fn u64s(&mut self, values: impl Iterator<Item = u64>) {
        self.node(0);
        self.entry(0);
        self.words(values.map(u64::to_le_bytes));
    }

    /// Writes a column of signed 64-bit numbers, one for each row.
    pub fn i64s(&mut self, values: impl Iterator<Item = i64>) {
        self.node(0);
        self.entry(0);
        self.words(values.map(i64::to_le_bytes));
    }

    /// Writes a column of 64-bit numbers of which some are absent.
    ///
    /// `absent` tells for each row whether it lacks a value, `missing` how many rows do.
    pub fn u64s_or_absent(
        &mut self,
        values: impl Iterator<Item = u64>,
        absent: impl Iterator<Item = bool>,
        missing: usize,
    ) {
        if missing == 0 {
            return self.u64s(values);
        }
        self.node(missing);
        let size = self.rows.div_ceil(8);
        self.entry(size);
        let at = self.take(size);
        let bits = &mut self.out[at..at + size];
        bits.fill(0);
        for (row, absent) in absent.take(self.rows).enumerate() {
            bits[row / 8] |= u8::from(!absent) << (row % 8);
        }
        self.words(values.map(u64::to_le_bytes));
    }

    /// Writes a column of texts, one for each row.
    ///
    /// A column of more than 2 GiB cannot be encoded: the texts beyond are empty.
    pub fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t str> + Clone) {
        self.node(0);
        self.entry(0);
        let size = 4 * (self.rows + 1);
        self.entry(size);
        let at = self.take(size);
        let mut end: i32 = 0;
        self.out[at..at + 4].copy_from_slice(&end.to_le_bytes());
        let places = self.out[at + 4..at + size].chunks_exact_mut(4);
        for (place, text) in places.zip(texts.clone()) {
            end = grown(end, text).unwrap_or(end);
            place.copy_from_slice(&end.to_le_bytes());
        }
        let size = usize::try_from(end).unwrap_or(0);
        self.entry(size);
        let mut at = self.take(size);
        let mut end = 0;
        for text in texts.take(self.rows) {
            if let Some(next) = grown(end, text) {
                self.bytes_at(at, text.as_bytes());
                at += text.len();
                end = next;
            }
        }
    }

    /// Ends the batch and returns where it ends in the buffer.
    pub fn end(mut self) -> usize {
        debug_assert_eq!((self.nodes, self.buffer), (self.node_end, self.buffer_end));
        self.long_at(self.start + BODY_LENGTH, self.at - self.body);
        self.at
    }

    /// Writes one word for each row.
    fn words<const N: usize>(&mut self, words: impl Iterator<Item = [u8; N]>) {
        let size = N * self.rows;
        self.entry(size);
        let at = self.take(size);
        for (place, word) in self.out[at..at + size].chunks_exact_mut(N).zip(words) {
            place.copy_from_slice(&word);
        }
    }

    /// Tells how many rows a column has, and how many of them lack a value.
    fn node(&mut self, missing: usize) {
        self.long_at(self.nodes, self.rows);
        self.long_at(self.nodes + 8, missing);
        self.nodes += 16;
    }

    /// Tells where the next buffer stands, and its length.
    fn entry(&mut self, size: usize) {
        self.long_at(self.buffer, self.at - self.body);
        self.long_at(self.buffer + 8, size);
        self.buffer += 16;
    }

    /// Makes room for a buffer, padded with zeros to a multiple of 8, and returns where it begins.
    fn take(&mut self, size: usize) -> usize {
        let at = self.at;
        self.at += size.next_multiple_of(8);
        self.reserve(self.at - self.start);
        self.out[at + size..self.at].fill(0);
        at
    }

    fn reserve(&mut self, size: usize) {
        let end = self.start + size;
        if self.out.len() < end {
            self.out.resize(end + size / 4, 0);
        }
    }

    fn bytes_at(&mut self, at: usize, bytes: &[u8]) {
        self.out[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes a number that is below 2^32, as no frame is so long.
    fn number_at(&mut self, at: usize, number: usize) {
        self.bytes_at(at, &(number as u32).to_le_bytes());
    }

    fn long_at(&mut self, at: usize, number: usize) {
        self.bytes_at(at, &(number as u64).to_le_bytes());
    }
}

fn grown(end: i32, text: &str) -> Option<i32> {
    end.checked_add(i32::try_from(text.len()).ok()?)
}

/// Makes the message of a schema of nullable columns, as a stream begins with it.
pub fn schema<'n>(columns: impl Iterator<Item = (&'n str, Kind)>) -> Vec<u8> {
    let columns: Vec<_> = columns.collect();
    let mut made = Flat::new();
    // Offsets point forward, those to vtables back: so these come first.
    let root = made.hold();
    let message = made.vtable(12, &[4, 6, 8]);
    let schema = made.vtable(8, &[0, 4]);
    let field = made.vtable(20, &[4, 16, 17, 8, 0, 12]);
    let integer = made.vtable(12, &[4, 8]);
    let plain = made.vtable(4, &[]);
    made.point(root);
    made.table(message);
    made.bytes(&[V5, 0, SCHEMA, 0]);
    let header = made.hold();
    made.point(header);
    made.table(schema);
    let fields = made.hold();
    made.point(fields);
    made.number(columns.len() as u32);
    let places: Vec<_> = columns.iter().map(|_| made.hold()).collect();
    let mut children = Vec::new();
    for ((name, kind), place) in columns.iter().zip(places) {
        made.point(place);
        made.table(field);
        let (text, kind_at) = (made.hold(), made.hold());
        children.push(made.hold());
        made.bytes(&[1, if *kind == Kind::Text { UTF8 } else { INT }, 0, 0]);
        made.point(text);
        made.text(name);
        made.point(kind_at);
        if *kind == Kind::Text {
            made.table(plain);
        } else {
            made.table(integer);
            made.number(if *kind == Kind::U32 { 32 } else { 64 });
            made.bytes(&[u8::from(*kind == Kind::I64), 0, 0, 0]);
        }
    }
    for child in children {
        made.point(child);
    }
    made.number(0);
    made.message()
}

/// Values of the enumerations MetadataVersion, MessageHeader and Type.
const V5: u8 = 4;
const SCHEMA: u8 = 1;
const INT: u8 = 2;
const UTF8: u8 = 5;

/// A FlatBuffer that is written from its beginning on; every item starts at a multiple of 4.
struct Flat(Vec<u8>);

impl Flat {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    /// Writes the layout of a table of `size` bytes: where each of its members stands, 0: nowhere.
    fn vtable(&mut self, size: u16, members: &[u16]) -> usize {
        let at = self.0.len();
        let own = 4 + 2 * members.len() as u16;
        for number in [own, size].iter().chain(members) {
            self.bytes(&number.to_le_bytes());
        }
        self.pad();
        at
    }

    /// Begins a table of a layout.
    fn table(&mut self, vtable: usize) {
        self.number((self.0.len() - vtable) as u32);
    }

    /// Leaves room for an offset.
    fn hold(&mut self) -> usize {
        let at = self.0.len();
        self.number(0);
        at
    }

    /// Writes an offset to what is written next.
    fn point(&mut self, at: usize) {
        let offset = (self.0.len() - at) as u32;
        self.0[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.bytes(text.as_bytes());
        self.bytes(&[0]);
        self.pad();
    }

    fn pad(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    /// The encapsulated message, a multiple of 8 bytes long.
    fn message(mut self) -> Vec<u8> {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let mut message = CONTINUATION.to_vec();
        message.extend_from_slice(&(self.0.len() as u32).to_le_bytes());
        message.append(&mut self.0);
        message
    }
}
