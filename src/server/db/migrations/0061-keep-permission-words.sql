-- The values of an entry about permissions name no person, so they stay when the person is deleted.
alter table audit_entry no force row level security;
alter table audit_value no force row level security;
update audit_value set person_id = null
  from audit_entry entry
 where entry.company_id = audit_value.company_id and entry.seq = audit_value.seq
   and entry.action = 'user.permissions' and audit_value.person_id is not null;
alter table audit_value force row level security;
alter table audit_entry force row level security;

-- The list of all entries about a person also has those about their groups.
create index audit_value_member on audit_value
  (company_id, substring(changes from '"user_id":"([0-9a-f-]{36})"'))
  where changes like '%"user_id":"%';
