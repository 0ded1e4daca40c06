"""The default beside other methods and other libraries: error in nats, seconds, evaluations, memory.

A run is a file (`cache`), made by a process of its own (`process`, `worker`) in the environment of its library
(`environments`); which runs there are is `task`, `methods` and `settings`; what they show is `lines`, `speedups`,
`drawing` and `report`.
"""
