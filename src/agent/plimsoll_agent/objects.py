"""The object collectives of torch.distributed, for groups that cannot carry objects here.

all_gather_object() and the like send a pickled object through tensors of the group's device. Over
NCCL these are device memory, which holds no values in a rehearsal. So the objects take another
way: between ranks that are processes, the group's store; in a rank that is alone, none.
"""

from plimsoll_agent.mail import Mail
from plimsoll_agent.rebinding import rebind

DESTROY_SECONDS_MAX = 60


class Alone:
    """The post of a rank whose others do not exist: what they would send is what it has."""

    def __init__(self, rank, size, note):
        self.rank = rank
        self.size = size
        self._note = note
        self._own = None

    def next_key(self, what):
        return what

    def put(self, key, value, readers):
        self._own = value

    def get(self, key):
        """Its own object, or nothing: a key that ends in its rank is its own."""
        if key.endswith(f"/{self.rank}"):
            return self._own
        self._note(f"{key.split('/')[0]}: another rank's objects are not known, and were left out")
        return None

    def meet(self, seconds=None):
        return True


class Objects:
    """Replaces the functions, once torch.distributed is there."""

    def __init__(self, c10d, note, is_alone):
        self._c10d = c10d
        self._note = note
        self._is_alone = is_alone
        self._posts = {}

    def install(self):
        for name in ("all_gather_object", "gather_object", "broadcast_object_list",
                     "scatter_object_list", "send_object_list", "recv_object_list"):
            rebind(self._c10d, name, getattr(self, f"_{name}"))
        if not self._is_alone:
            rebind(self._c10d, "barrier", self._barrier)
            rebind(self._c10d, "destroy_process_group", self._destroy_process_group)

    def post(self, group, device=None):
        """The post of a group that needs one, else None: the group can do it itself."""
        c10d = self._c10d
        group = group or c10d._get_default_group()
        if not isinstance(group, c10d.ProcessGroup) or c10d._rank_not_in_group(group):
            return None
        kind_of = getattr(c10d, "_get_object_coll_device", None)  # since PyTorch 2.5
        kind = device or (kind_of or c10d._get_pg_default_device)(group)
        if str(getattr(kind, "type", kind)) == "cpu" and not self._is_alone:
            return None
        name = getattr(group, "group_name", None)  # since PyTorch 2.2
        name = name or c10d._world.pg_names[group]
        if name not in self._posts:
            _, store = c10d._world.pg_map[group]
            make = (Alone(group.rank(), group.size(), self._note) if self._is_alone
                    else Mail(store, group.rank(), group.size()))
            self._posts[name] = make
        return self._posts[name]

    def rank_in(self, group, rank, group_rank, fallback=None):
        """The rank in the group, given that, or the global one."""
        if group_rank is not None:
            return group_rank
        rank = fallback if rank is None else rank
        return self._c10d.get_group_rank(group or self._c10d._get_default_group(), rank)

    def _all_gather_object(self, original):
        def all_gather_object(object_list, obj, group=None, *args, **kwargs):
            post = self.post(group)
            if post is None:
                return original(object_list, obj, group, *args, **kwargs)
            key = post.next_key("all_gather_object")
            post.put(f"{key}/{post.rank}", obj, post.size)
            for rank in range(post.size):
                source = post.rank if self._is_alone else rank
                object_list[rank] = post.get(f"{key}/{source}")
            return None

        return all_gather_object

    def _gather_object(self, original):
        def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None,
                          *args, **kwargs):
            post = self.post(group)
            if post is None:
                return original(obj, object_gather_list, dst, group, group_dst, *args, **kwargs)
            target = self.rank_in(group, dst, group_dst, 0)
            self._c10d._validate_output_list_for_rank(post.rank, target, object_gather_list)
            key = post.next_key("gather_object")
            post.put(f"{key}/{post.rank}", obj, 1)
            if post.rank == target:
                for rank in range(post.size):
                    source = post.rank if self._is_alone else rank
                    object_gather_list[rank] = post.get(f"{key}/{source}")
            return None

        return gather_object

    def _broadcast_object_list(self, original):
        def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None,
                                  *args, **kwargs):
            post = self.post(group, device)
            if post is None:
                return original(object_list, src, group, device, group_src, *args, **kwargs)
            source = self.rank_in(group, src, group_src, 0)
            key = f"{post.next_key('broadcast_object_list')}/{source}"
            if post.rank == source:
                post.put(key, list(object_list), max(post.size - 1, 1))
            else:
                _fill(object_list, post.get(key))
            return None

        return broadcast_object_list

    def _scatter_object_list(self, original):
        def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None,
                                src=None, group=None, group_src=None, *args, **kwargs):
            post = self.post(group)
            if post is None:
                return original(scatter_object_output_list, scatter_object_input_list, src, group,
                                group_src, *args, **kwargs)
            if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
                raise ValueError("Expected argument scatter_object_output_list to be a list of "
                                 "size at least 1.")
            source = self.rank_in(group, src, group_src, 0)
            key = post.next_key("scatter_object_list")
            if post.rank == source:
                if scatter_object_input_list is None:
                    raise ValueError("source rank must provide non-None scatter_object_input_list")
                for rank, value in enumerate(scatter_object_input_list):
                    if rank != source:
                        post.put(f"{key}/{rank}", value, 1)
                scatter_object_output_list[0] = scatter_object_input_list[source]
            elif not self._is_alone:
                scatter_object_output_list[0] = post.get(f"{key}/{post.rank}")
            else:
                _fill(scatter_object_output_list, post.get(key))
            return None

        return scatter_object_list

    def _send_object_list(self, original):
        def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None,
                             *args, **kwargs):
            post = self.post(group, device)
            if post is None:
                return original(object_list, dst, group, device, group_dst, *args, **kwargs)
            target = self.rank_in(group, dst, group_dst)
            key = post.next_key(f"recv_object_list/{post.rank}-{target}")
            post.put(key, list(object_list), 1)
            return None

        return send_object_list

    def _recv_object_list(self, original):
        def recv_object_list(object_list, src=None, group=None, device=None, group_src=None,
                             *args, **kwargs):
            post = self.post(group, device)
            if post is None or (src is None and group_src is None):  # from any rank: not known
                return original(object_list, src, group, device, group_src, *args, **kwargs)
            source = self.rank_in(group, src, group_src)
            _fill(object_list, post.get(post.next_key(f"recv_object_list/{source}-{post.rank}")))
            return self._c10d.get_global_rank(group or self._c10d._get_default_group(), source)

        return recv_object_list

    def _barrier(self, original):
        """NCCL's barrier is a collective, which does not wait here: this one does."""

        def barrier(group=None, async_op=False, *args, **kwargs):
            result = original(group, async_op, *args, **kwargs)
            post = None if async_op else self.post(group)
            if post is not None:
                post.meet()
            return result

        return barrier

    def _destroy_process_group(self, original):
        """Ranks end together, as NCCL makes them: one of them may hold the others' store."""

        def destroy_process_group(group=None, *args, **kwargs):
            post = self.post(group) if self._c10d.is_initialized() else None
            if post is not None:
                post.meet(DESTROY_SECONDS_MAX)
            if group is None:
                self._posts.clear()
            elif post is not None:
                self._posts.pop(group.group_name, None)
            return original(group, *args, **kwargs)

        return destroy_process_group


def _fill(objects, values):
    """Puts what came into the caller's list; None: nothing came."""
    if values is not None:
        for index, value in enumerate(values[:len(objects)]):
            objects[index] = value
