-- The files being loaded: their place in staging, which column groups they have, the latency policy of their kernel.
create or replace temp table loading_file (
    file_id integer, version_id integer, kernel_type varchar, is_communication boolean,
    core_ratio double, prefer_profiling boolean, first_row bigint, has_counters boolean, has_enrichment boolean)
