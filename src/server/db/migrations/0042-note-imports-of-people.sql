-- The import that created the person: the audit log tells of it with one entry for all its people. The
-- import itself is erased after 30 days.
alter table "user" add column imported_by uuid;
