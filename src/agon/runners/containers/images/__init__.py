"""Images of tasks, of agon and of its proxy: built once, never pulled, removed where unfinished."""
