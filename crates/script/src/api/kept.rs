//! `message` of `after.message` and `after.delete`: what a list shows of it. It is read-only.

use std::sync::Arc;

use mlua::{Error, MetaMethod, UserData, UserDataFields, UserDataMethods, Value};

use crate::event::{Kept, written};
use mail::Naming;

pub(crate) struct KeptMessage(pub(crate) Arc<Kept>, pub(crate) Naming);

impl UserData for KeptMessage {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("mailbox", |_, Self(kept, naming)| Ok(naming.spelling(&kept.mailbox).into_owned()));
        fields.add_field_method_get("id", |_, Self(kept, _)| Ok(kept.summary.id.to_string()));
        fields.add_field_method_get("from", |_, Self(kept, _)| Ok(kept.summary.from.email.clone()));
        fields.add_field_method_get("from_name", |_, Self(kept, _)| Ok(kept.summary.from.name.clone()));
        fields.add_field_method_get("sender", |_, Self(kept, _)| Ok(written(&kept.summary.mail_from)));
        fields.add_field_method_get("recipients", |_, Self(kept, _)| {
            Ok(kept.summary.rcpt_to.iter().map(ToString::to_string).collect::<Vec<_>>())
        });
        fields.add_field_method_get("subject", |_, Self(kept, _)| Ok(kept.summary.subject.clone()));
        fields.add_field_method_get("size", |_, Self(kept, _)| Ok(kept.summary.size as f64));
        fields.add_field_method_get("received_at", |_, Self(kept, _)| Ok(kept.summary.received_at.as_second() as f64));
        fields.add_field_method_get("tags", |_, Self(kept, _)| Ok(kept.summary.tags.clone()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, _, _: Value| Ok(Value::Nil));
        methods.add_meta_method(MetaMethod::NewIndex, |_, _, (name, _): (String, Value)| -> mlua::Result<()> {
            Err(Error::runtime(format!("message.{name} cannot be changed: it is kept already")))
        });
    }
}
