//! Sockets that Python has opened: many datagrams with one system call, filters, and drops.

use std::io;
use std::mem::{size_of_val, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Datagrams that one call receives at most.
pub const MAX_SLOTS: usize = 128;
const SO_MEMINFO: libc::c_int = 55;
/// SK_MEMINFO_VARS and SK_MEMINFO_DROPS (include/uapi/linux/sock_diag.h).
const MEMINFO_WORDS: usize = 9;
const DROPS: usize = 8;

/// An instruction of a classic BPF program.
pub type Instruction = libc::sock_filter;

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// The bytes that were received.
    pub bytes: &'a [u8],
    /// Netlink port of its sender; 0 is the kernel.
    pub port: u32,
    /// True if it was longer than its slot.
    pub cut: bool,
}

/// A buffer of equal slots, one for each datagram.
pub struct Slots {
    stride: usize,
    bytes: Vec<u8>,
    heads: Vec<Head>,
}

#[derive(Clone, Copy, Default)]
struct Head {
    length: usize,
    port: u32,
    cut: bool,
}

impl Slots {
    /// Makes `count` slots, at most `MAX_SLOTS`, of `stride` bytes each.
    pub fn new(count: usize, stride: usize) -> Self {
        let count = count.clamp(1, MAX_SLOTS);
        Self { stride, bytes: vec![0; count * stride], heads: vec![Head::default(); count] }
    }

    /// Number of slots.
    pub fn count(&self) -> usize {
        self.heads.len()
    }

    /// The datagram in a slot, of those that the last call received.
    pub fn datagram(&self, slot: usize) -> Datagram<'_> {
        let Head { length, port, cut } = self.heads[slot];
        let start = slot * self.stride;
        Datagram { bytes: &self.bytes[start..start + length], port, cut }
    }

    /// Receives what is there into the slots, without waiting, and returns the number of datagrams.
    ///
    /// # Errors
    /// The error of recvmmsg(2): ENOBUFS if the kernel has dropped some since the last call.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let count = self.count();
        // SAFETY: zeros are a value of these structs of C.
        let mut headers: [libc::mmsghdr; MAX_SLOTS] = unsafe { zeroed() };
        // SAFETY: as above.
        let mut vectors: [libc::iovec; MAX_SLOTS] = unsafe { zeroed() };
        // SAFETY: as above.
        let mut senders: [libc::sockaddr_nl; MAX_SLOTS] = unsafe { zeroed() };
        let slots = self.bytes.chunks_exact_mut(self.stride);
        for (((header, vector), sender), slot) in
            headers.iter_mut().zip(&mut vectors).zip(&mut senders).zip(slots)
        {
            vector.iov_base = slot.as_mut_ptr().cast();
            vector.iov_len = slot.len();
            header.msg_hdr.msg_name = std::ptr::from_mut(sender).cast();
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
        }
        let got = loop {
            // SAFETY: the first `count` headers point to a sender, a vector and a slot each, with their
            // lengths, and `count` is at most MAX_SLOTS. All of these live until the call returns.
            let got = unsafe {
                libc::recvmmsg(
                    socket.as_raw_fd(),
                    headers.as_mut_ptr(),
                    count as libc::c_uint,
                    libc::MSG_DONTWAIT as _,
                    std::ptr::null_mut(),
                )
            };
            match usize::try_from(got) {
                Ok(got) => break got.min(count),
                Err(_) => {
                    let error = io::Error::last_os_error();
                    match error.raw_os_error() {
                        Some(libc::EAGAIN) => return Ok(0),
                        Some(libc::EINTR) => {}
                        _ => return Err(error),
                    }
                }
            }
        };
        for ((head, header), sender) in self.heads.iter_mut().zip(&headers).zip(&senders).take(got)
        {
            head.length = (header.msg_len as usize).min(self.stride);
            head.port = sender.nl_pid;
            head.cut = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
        }
        Ok(got)
    }
}

/// Sends a datagram to the peer of a socket; that of a netlink socket is the kernel.
///
/// # Errors
/// The error of send(2); WriteZero if not all bytes were taken.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads `bytes.len()` bytes.
    let sent = unsafe {
        libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    };
    match usize::try_from(sent) {
        Ok(sent) if sent == bytes.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// How many datagrams the kernel has not put into a socket, modulo 2^32; None if it does not tell.
pub fn dropped(socket: BorrowedFd<'_>) -> Option<u32> {
    let mut words = [0_u32; MEMINFO_WORDS];
    let mut length = size_of_val(&words) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `words`, and the length to `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            words.as_mut_ptr().cast(),
            &mut length,
        )
    };
    (result == 0 && length as usize == size_of_val(&words)).then(|| words[DROPS])
}

/// Lets a socket receive only what a program keeps, from now on; None: everything.
///
/// One program takes the place of another at once: nothing is lost meanwhile.
///
/// # Errors
/// The error of setsockopt(2); InvalidInput if the program has more than 65,535 instructions.
pub fn set_filter(socket: BorrowedFd<'_>, program: Option<&[Instruction]>) -> io::Result<()> {
    let steps = program.unwrap_or_default();
    let count = u16::try_from(steps.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let described = libc::sock_fprog { len: count, filter: steps.as_ptr().cast_mut() };
    let option = match program {
        Some(_) => libc::SO_ATTACH_FILTER,
        None => libc::SO_DETACH_FILTER,
    };
    // SAFETY: the kernel reads the description, and `len` instructions of it, which it does not write
    // to; to detach a program it reads nothing but one word.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            std::ptr::from_ref(&described).cast(),
            size_of_val(&described) as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Sockets as Python opens them, for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use std::os::fd::{FromRawFd, OwnedFd};

    const SO_RCVBUFFORCE: libc::c_int = 33;

    /// Opens a bound, non-blocking generic netlink socket with a receive buffer of so many bytes.
    pub fn open_generic_netlink(buffer_bytes: i32) -> io::Result<OwnedFd> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: the call takes no memory.
        let made = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_GENERIC) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has made this descriptor for the caller.
        let socket = unsafe { OwnedFd::from_raw_fd(made) };
        let address = netlink_address(0);
        // SAFETY: the kernel reads one address, and then one number.
        let result = unsafe {
            libc::setsockopt(
                made,
                libc::SOL_SOCKET,
                SO_RCVBUFFORCE,
                std::ptr::from_ref(&buffer_bytes).cast(),
                4,
            );
            libc::bind(made, std::ptr::from_ref(&address).cast(), size_of_val(&address) as u32)
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(socket)
    }

    /// Port of a netlink socket.
    pub fn port(socket: BorrowedFd<'_>) -> u32 {
        let mut address = netlink_address(0);
        let mut length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the kernel writes one address of this length.
        let result = unsafe {
            libc::getsockname(
                socket.as_raw_fd(),
                std::ptr::from_mut(&mut address).cast(),
                &mut length,
            )
        };
        assert_eq!(result, 0);
        address.nl_pid
    }

    /// Sends a datagram from one netlink socket to another.
    pub fn send_to(from: BorrowedFd<'_>, port: u32, bytes: &[u8]) -> io::Result<()> {
        let address = netlink_address(port);
        // SAFETY: the kernel reads these bytes and one address.
        let sent = unsafe {
            libc::sendto(
                from.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                0,
                std::ptr::from_ref(&address).cast(),
                size_of_val(&address) as u32,
            )
        };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn netlink_address(port: u32) -> libc::sockaddr_nl {
        // SAFETY: zeros are a value of this struct of C.
        let mut address: libc::sockaddr_nl = unsafe { zeroed() };
        address.nl_family = libc::AF_NETLINK as u16;
        address.nl_pid = port;
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn datagrams_are_received_together_and_cut_ones_are_known() {
        let (near, far) = UnixDatagram::pair().unwrap();
        let mut slots = Slots::new(3, 4);
        assert_eq!(slots.receive(near.as_fd()).unwrap(), 0);
        for bytes in [&b"ab"[..], b"", b"abcdef", b"last"] {
            far.send(bytes).unwrap();
        }
        assert_eq!(slots.receive(near.as_fd()).unwrap(), 3);
        let found: Vec<_> = (0..3).map(|slot| slots.datagram(slot)).collect();
        assert_eq!((found[0].bytes, found[0].cut, found[0].port), (&b"ab"[..], false, 0));
        assert_eq!((found[1].bytes, found[1].cut), (&b""[..], false));
        assert_eq!((found[2].bytes, found[2].cut), (&b"abcd"[..], true));
        assert_eq!(slots.receive(near.as_fd()).unwrap(), 1);
        assert_eq!((slots.datagram(0).bytes, slots.datagram(0).cut), (&b"last"[..], false));
    }

    #[test]
    fn what_was_sent_arrives_and_a_closed_peer_is_an_error() {
        let (near, far) = UnixDatagram::pair().unwrap();
        send(near.as_fd(), b"question").unwrap();
        let mut bytes = [0; 16];
        assert_eq!(far.recv(&mut bytes).unwrap(), 8);
        drop(far);
        assert!(send(near.as_fd(), b"question").is_err());
    }

    #[test]
    fn a_new_socket_has_dropped_nothing() {
        let (near, _far) = UnixDatagram::pair().unwrap();
        assert_eq!(dropped(near.as_fd()), Some(0));
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(dropped(file.as_fd()), None);
    }

    #[test]
    fn a_filter_is_set_and_taken_away() {
        let (near, far) = UnixDatagram::pair().unwrap();
        let nothing = [Instruction { code: 6, jt: 0, jf: 0, k: 0 }];
        set_filter(near.as_fd(), Some(&nothing)).unwrap();
        far.send(b"x").unwrap();
        set_filter(near.as_fd(), None).unwrap();
        far.send(b"y").unwrap();
        let mut slots = Slots::new(2, 4);
        assert_eq!(slots.receive(near.as_fd()).unwrap(), 1);
        assert_eq!(slots.datagram(0).bytes, b"y");
    }
}
