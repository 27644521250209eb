-- Takes the rows of one run out of recorded_group.
-- param: run_id varchar [recorded_run.run_id]
delete from recorded_group where run_id = $run_id
