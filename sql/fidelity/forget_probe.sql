-- Takes the rows of one run out of recorded_probe.
-- param: run_id varchar [recorded_run.run_id]
delete from recorded_probe where run_id = $run_id
