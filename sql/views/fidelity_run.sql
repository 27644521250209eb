-- Fidelity runs that were recorded: what was asked, against which truth, under which policy.
-- example: Which runs compare a version with a hold-out of its own data?
create or replace view fidelity_run as
select run_id, recorded_at as created_at, version_key, truth_kind, truth_ref, scheme, params_json, policy_hash, bar, engine,
    truth_quality, params_json::json ->> 'policy' is null and params_json::json ->> 'by_operator' is distinct from 'true' as is_stored_policy,
    schema_version, code_rev
from recorded_run
order by recorded_at, run_id;
comment on view fidelity_run is 'One row per recorded run [source: recorded_run]';
comment on column fidelity_run.run_id is 'Digest of request, policy and data; the same run has the same one [hex]';
comment on column fidelity_run.created_at is 'When it was recorded [UTC]';
comment on column fidelity_run.version_key is 'Version that was asked [profile_version.version_key]';
comment on column fidelity_run.truth_kind is 'holdout, version, table or command [text]';
comment on column fidelity_run.truth_ref is 'Other version, table or command line; null for holdout [text]';
comment on column fidelity_run.scheme is 'Hold-out scheme, null for other truths [text]';
comment on column fidelity_run.params_json is 'Everything else that was asked for [canonical JSON]';
comment on column fidelity_run.policy_hash is 'SHA-256 over the policies that answered [hex]';
comment on column fidelity_run.bar is 'An answer is good within a factor of 1 + bar [ratio]';
comment on column fidelity_run.engine is 'lookup: the production lookup answered [text]';
comment on column fidelity_run.truth_quality is 'truth, drift or mixed [text]';
comment on column fidelity_run.is_stored_policy is 'Whether the policies of the mapping answered, by coordinate [boolean]';
comment on column fidelity_run.schema_version is 'Last schema migration of the file then [integer]';
comment on column fidelity_run.code_rev is 'sqlinterp that ran [text]';
