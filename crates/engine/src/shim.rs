//! Temporary.
use slipring_core::*;
use slipring_core::ledger::Manner;
use std::sync::Arc;
pub(crate) trait Shim { fn is_durable(&self)->bool{false} fn make_durable(&mut self,_:u64){} fn take_records(&mut self,_:&mut Vec<u8>)->Option<Durability>{None} fn wanted(&mut self)->Vec<u64>{vec![]} fn fill(&mut self,_:Vec<(u64,Option<Arc<Message>>)>){} }
impl Shim for Outgoing {}
pub(crate) trait Shim2 { fn new(message: Arc<Message>, m: Manner)->Delivery { Delivery{message,qos:m.qos,retain:m.retain,identifiers:m.identifiers} } }
impl Shim2 for Delivery {}
pub(crate) trait Shim3 { fn messages(&mut self,_:&[u64])->Vec<Result<StoredMessage,()>>{vec![]} }
impl Shim3 for slipring_journal::Reader {}
pub struct StoredMessage{pub offset:u64,pub receive_ns:i64,pub flags:slipring_journal::Flags,pub topic:String,pub properties:Vec<u8>,pub payload:Vec<u8>}
