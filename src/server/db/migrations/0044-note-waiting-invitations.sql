-- Whether an administrator has invited the person and no mail of it has been queued yet. The first
-- administrator of a company waits so until the company's first host is proved.
alter table "user" add column invitation_waits boolean not null default false;
-- In companies that never had a host to which links can lead, nobody got an invitation.
alter table "user" no force row level security;
alter table domain no force row level security;
update "user" u set invitation_waits = true
 where u.state = 'invited' and u.deleted_at is null and u.imported_by is null
   and not exists (
     select from domain d
      where d.company_id = u.company_id
        and (d.verified_at is not null or d.quarantined_at is not null)
   );
alter table domain force row level security;
alter table "user" force row level security;
