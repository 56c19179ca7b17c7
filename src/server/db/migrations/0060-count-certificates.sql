-- The names below wildcards for which a proxy may request a certificate. Strangers can make up such names,
-- so a wildcard gets only a few new ones a week; names that are here stay allowed.
create table certificate_name (
  name text primary key check (length(name) <= 253),
  wildcard text not null,
  allowed_at timestamptz not null
);
create index certificate_name_age on certificate_name (wildcard, allowed_at);
-- `update` because a lock of the table needs it
grant select, insert, update on certificate_name to vidimus_app;
