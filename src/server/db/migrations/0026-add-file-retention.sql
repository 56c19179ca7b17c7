-- When the file of a deposit is deleted (null: never), when it was, and the group to which its bytes
-- were charged. A group to which something was charged is never deleted.
alter table deposit
  add column keep_until timestamptz,
  add column erased_at timestamptz,
  add column group_id uuid;
create index deposit_due on deposit (company_id, keep_until)
  where keep_until is not null and blob_tag is not null;
-- The record of a deposit never changes; only its file can go.
grant update (blob_tag, erased_at) on deposit to vidimus_app;
