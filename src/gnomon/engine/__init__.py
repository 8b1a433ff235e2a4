"""Long work over many items: in parts, on many processors, and never lost when it stops.

The engine knows nothing of documents. It calls a job on one shard of items after another and keeps
what the job gives back as numbered parts in a folder.

- `shards`: the input cut into shards, and what a job gives back for one.
- `executors`: where jobs run: this process, other processes, or a Dask cluster.
- `ledger`: the folder: its parts, the manifest that lists them, and the lock.
- `run`: all of it together; a run that was stopped, however rudely, goes on where it was.
"""
