//! `session`: a transaction, as `before.mail_from` and `before.rcpt_to` see it. It is read-only.

use std::sync::Arc;

use mlua::{Error, MetaMethod, UserData, UserDataFields, UserDataMethods, Value};

use crate::event::{Transaction, written};

pub(crate) struct Session(pub(crate) Arc<Transaction>);

impl UserData for Session {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("from", |_, Self(session)| Ok(written(&session.sender)));
        fields.add_field_method_get("to", |_, Self(session)| {
            Ok(session.accepted.iter().map(ToString::to_string).collect::<Vec<_>>())
        });
        fields.add_field_method_get("recipient", |_, Self(session)| {
            Ok(session.recipient.as_ref().map(ToString::to_string))
        });
        fields.add_field_method_get("helo", |_, Self(session)| Ok(session.client.helo.clone()));
        fields.add_field_method_get("peer", |_, Self(session)| Ok(session.client.peer.map(|peer| peer.to_string())));
        fields.add_field_method_get("user", |_, Self(session)| Ok(session.client.user.clone()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, _, _: Value| Ok(Value::Nil));
        methods.add_meta_method(MetaMethod::NewIndex, |_, _, (name, _): (String, Value)| -> mlua::Result<()> {
            Err(Error::runtime(format!("session.{name} cannot be changed")))
        });
    }
}
