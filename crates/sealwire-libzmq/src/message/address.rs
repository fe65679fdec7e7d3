//! Whom a message is for, or came from, beside its body: the routing id of SERVER and PEER, the group of RADIO and DISH.

use std::ffi::{CStr, CString};
use std::mem;
use std::ptr;

use super::Msg;

/// What a message has of both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Address {
    /// 0 where there is none.
    pub(crate) routing_id: u32,
    pub(crate) group: Option<CString>,
}

impl Msg {
    /// The group, as text that lives as long as the message has it.
    pub(super) fn group(&self) -> Option<&CStr> {
        // SAFETY: null, or what a `CString` that this message owns was made into.
        (!self.group.is_null()).then(|| unsafe { CStr::from_ptr(self.group) })
    }

    /// A copy of its address.
    pub(super) fn address(&self) -> Address {
        Address {
            routing_id: self.routing_id,
            group: self.group().map(CStr::to_owned),
        }
    }

    /// Takes the address away.
    pub(crate) fn take_address(&mut self) -> Address {
        let group = mem::replace(&mut self.group, ptr::null_mut());
        Address {
            routing_id: mem::take(&mut self.routing_id),
            // SAFETY: what a `CString` that this message owned was made into, given back once.
            group: (!group.is_null()).then(|| unsafe { CString::from_raw(group) }),
        }
    }

    /// Gives it another address.
    pub(crate) fn set_address(&mut self, address: Address) {
        drop(self.take_address());
        self.routing_id = address.routing_id;
        self.group = address.group.map_or(ptr::null_mut(), CString::into_raw);
    }
}

#[cfg(draft)]
impl Msg {
    pub(crate) fn routing_id(&self) -> u32 {
        self.routing_id
    }

    pub(crate) fn set_routing_id(&mut self, routing_id: u32) {
        self.routing_id = routing_id;
    }

    /// The group as text for C, empty where there is none.
    pub(crate) fn group_text(&self) -> *const libc::c_char {
        self.group().unwrap_or_default().as_ptr()
    }

    pub(crate) fn set_group(&mut self, group: CString) {
        let routing_id = self.routing_id;
        let group = Some(group);
        self.set_address(Address { routing_id, group });
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::Frames;

    use super::*;

    fn address() -> Address {
        Address {
            routing_id: 7,
            group: Some(c"weather".into()),
        }
    }

    #[test]
    fn a_copy_has_the_same_address_and_what_is_sent_leaves_none() {
        for size in [0, 40, 41, 4_096] {
            let mut message = Msg::new();
            // SAFETY: a message that holds nothing.
            unsafe { Msg::begin(&raw mut message, size) }.unwrap();
            // SAFETY: as many bytes as it was made for.
            unsafe { ptr::write_bytes(message.data().cast::<u8>(), 7, size) };
            message.set_address(address());
            let mut copy = message.share();
            assert_eq!(copy.take_address(), address());
            assert_eq!(copy.take_address(), Address::default());
            assert_eq!(message.address(), address());
            message.take_into(&mut Frames::new());
            assert_eq!(message.address(), Address::default());
        }
    }

    #[test]
    fn another_address_takes_the_place_of_the_one_before() {
        let mut message = Msg::new();
        for _ in 0..3 {
            message.set_address(address());
        }
        message.set_address(Address::default());
        assert!(message.group().is_none());
        assert_eq!(message.address(), Address::default());
    }
}
