//! The verbs about fault plans: whoever may cause faults for a mailbox, or for all.

use bytes::Bytes;
use jiff::SignedDuration;
use store::registry::Registry;
use store::{Expect, Put};

use super::Mailroom;
use crate::access::token::chance;
use crate::access::{Target, Verb, base32};
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::faults::{Count, NewPlan, Plan, Whom, attempts, plans};

/// Digits of a plan's id.
const ID_DIGITS: usize = 8;

impl Mailroom {
    /// Put a plan in force: here at once, on other nodes within moments, for as long as it says.
    pub async fn plan_fault(&self, caller: &Caller, new: NewPlan) -> Result<Plan> {
        let permit = self.access.permit(caller, Verb::Fault, target(&new.whom))?;
        let registry = self.vault.open(&permit).registry();
        let settings = &self.faults.settings;
        let new = new.checked(settings)?;
        self.has_room_for_plan(registry).await?;
        let ttl = new.ttl.unwrap_or(settings.ttl_default);
        let (id, created) = (base32::digits(&chance::<5>()?, ID_DIGITS), self.now());
        let ttl = SignedDuration::try_from(ttl).unwrap_or(SignedDuration::MAX);
        let expires = created.saturating_add(ttl).unwrap_or(jiff::Timestamp::MAX);
        let mut plan = Plan {
            id,
            whom: new.whom,
            stage: new.stage,
            act: new.act,
            when: new.when,
            per: new.per,
            note: new.note,
            created,
            expires,
        };
        if let Some(reply) = plan.act.reply.as_mut().filter(|reply| reply.text.is_empty()) {
            reply.text = format!("As the fault plan {} has it", plan.id);
        }
        let value = Bytes::from(plan.write());
        match registry.put(plans::KIND, &plan.id, value.clone(), Some(expires), Expect::Absent).await? {
            Put::Written(version) => {
                let entry = store::Entry { key: plan.id.clone(), value, version, expires: Some(expires) };
                self.faults.plans.put(&entry);
                Ok(plan)
            }
            Put::Conflict(_) => Err(store::Error::try_later("a random number came twice").into()),
        }
    }

    /// The plans in force that a caller may change, each with what it met, in the order in which they are asked.
    pub async fn fault_plans(&self, caller: &Caller) -> Result<Vec<(Plan, Count)>> {
        let permit = self.access.permit(caller, Verb::Fault, Target::Any)?;
        let registry = self.vault.open(&permit).registry();
        let entries = registry.list(plans::KIND).await?;
        let now = self.now();
        let mut listed = Vec::new();
        for plan in entries.iter().filter_map(Plan::read).filter(|plan| plan.is_live(now)) {
            if self.access.permit(caller, Verb::Fault, target(&plan.whom)).is_err() {
                continue;
            }
            let count = registry.get(attempts::KIND, &plan.id).await?;
            let count = count.map(|entry| attempts::read(&entry.value)).transpose()?.unwrap_or_default();
            listed.push((plan, count));
        }
        listed.sort_by(|(one, _), (other, _)| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(listed)
    }

    /// End a plan, on every node; false when there is none of this id.
    pub async fn remove_fault(&self, caller: &Caller, id: &str) -> Result<bool> {
        let permit = self.access.permit(caller, Verb::Fault, Target::Any)?;
        if !is_id(id) {
            return Ok(false);
        }
        let registry = self.vault.open(&permit).registry();
        let Some(entry) = registry.get(plans::KIND, id).await? else { return Ok(false) };
        if let Some(plan) = Plan::read(&entry) {
            self.access.permit(caller, Verb::Fault, target(&plan.whom))?;
        }
        let went = registry.delete(plans::KIND, id, Expect::Any).await?;
        self.faults.plans.remove(id);
        forget_counts(registry, id).await;
        Ok(went)
    }

    /// How many plans are in force that meet what the caller may list, or mail at all.
    pub fn faults_in_force(&self, caller: &Caller) -> usize {
        let sees = |plan: &Plan| match &plan.whom {
            Whom::Mailbox(mailbox) => self.may(caller, Verb::List, mailbox),
            Whom::Sender(_) | Whom::Everything => true,
        };
        self.faults.plans.count(self.now(), sees)
    }

    async fn has_room_for_plan(&self, registry: &dyn Registry) -> Result<()> {
        let max = self.faults.settings.plans_max;
        if max == 0 {
            return Err(Error::NoPlan("fault plans are switched off here: raise faults.plans_max".to_owned()));
        }
        let entries = registry.list(plans::KIND).await?;
        let now = self.now();
        if entries.iter().filter(|entry| entry.is_live(now)).count() >= max {
            let detail = format!("{max} fault plans are in force: remove one, or raise faults.plans_max");
            return Err(Error::NoPlan(detail));
        }
        Ok(())
    }
}

/// What was counted goes by itself with the plan's time; this only makes room earlier.
async fn forget_counts(registry: &dyn Registry, id: &str) {
    let Ok(entries) = registry.list(attempts::KIND).await else { return };
    let is_of_plan = |key: &str| key == id || key.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'));
    for entry in entries.iter().filter(|entry| is_of_plan(&entry.key)) {
        if let Err(error) = registry.delete(attempts::KIND, &entry.key, Expect::Any).await {
            tracing::debug!(%error, "what a fault plan met is forgotten later");
            return;
        }
    }
}

/// Who may cause a fault: for a mailbox whoever may there, for all else whoever may everywhere.
fn target(whom: &Whom) -> Target<'_> {
    match whom {
        Whom::Mailbox(mailbox) => Target::Mailbox(mailbox),
        Whom::Sender(_) | Whom::Everything => Target::All,
    }
}

fn is_id(id: &str) -> bool {
    id.len() == ID_DIGITS && base32::is_digits(id.as_bytes())
}
