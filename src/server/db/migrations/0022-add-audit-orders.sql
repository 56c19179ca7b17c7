-- The audit log is listed in the order of time. Times may be equal or, when a clock is set back, in
-- another order than the numbers, so each index ends with the number.
create index audit_entry_time on audit_entry (company_id, created_at, seq);
create index audit_entry_actor on audit_entry (company_id, actor_id, created_at, seq);
create index audit_entry_action on audit_entry (company_id, action, created_at, seq);
drop index audit_entry_target;
create index audit_entry_target on audit_entry (company_id, target_id, created_at, seq);
-- Finds the last entry of the page before.
create index audit_entry_id on audit_entry (company_id, id);
