-- Recorded runs.
select run_id from fidelity_run order by run_id
