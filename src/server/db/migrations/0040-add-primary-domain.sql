-- Administrators choose the domain to which mails lead. Without a choice it is the oldest.
alter table domain
  add column is_primary boolean not null default false,
  add constraint domain_primary_exact check (not is_primary or host not like '*%');
create unique index domain_primary on domain (company_id) where is_primary;
