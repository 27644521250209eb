-- The files being loaded, with the latency policy of their kernel.
create or replace temp table loading_file (
    file_id integer, version_id integer, kernel_type varchar, is_communication boolean,
    core_ratio double, prefer_profiling boolean)
