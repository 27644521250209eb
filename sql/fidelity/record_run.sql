-- Keeps rows of recorded_run.
-- param: rows varchar [JSON list of objects by column]
insert into recorded_run by name
with told as (
    select unnest(from_json($rows, '[{"run_id": "VARCHAR", "version_key": "VARCHAR", "truth_kind": "VARCHAR", "truth_ref": "VARCHAR", "scheme": "VARCHAR",
        "params_json": "VARCHAR", "policy_hash": "VARCHAR", "bar": "DOUBLE", "engine": "VARCHAR", "truth_quality": "VARCHAR",
        "schema_version": "INTEGER", "code_rev": "VARCHAR"}]'), recursive := true)
)
select now() at time zone 'UTC' as recorded_at, told.* from told
