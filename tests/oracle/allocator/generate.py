"""generate.py - seeded scripts of thousands of operations, shaped like programs."""

MIB = 1 << 20
LEVELS = ("never", "state", "alloc", "all")  # when stacks are taken


class Dice:
    """splitmix64: the same numbers in every release of Python."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        return mixed ^ (mixed >> 31)

    def below(self, bound):
        return self.next() % bound

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, items):
        return items[self.below(len(items))]

    def size(self, low, high):
        """Bytes over several powers of two, each as likely as the next."""
        bits = self.between(low.bit_length(), high.bit_length())
        return max(low, min(high, (1 << (bits - 1)) + self.below(1 << (bits - 1))))


class Program:
    """Lines of a script, and which blocks are alive."""

    def __init__(self, seed, *heads):
        self.dice = Dice(seed)
        self.lines = ["%" + head for head in heads]
        if seed % 2:  # between looks, what is counted late stays uncounted
            self.lines.append(f"%statsevery {self.dice.pick([7, 40, 250])}")
        self.live = []
        self.streams = {}
        self.names = 0
        self.count = 0

    def add(self, line):
        self.lines.append(line)
        self.count += 1

    def malloc(self, bytes, stream=0):
        self.names += 1
        self.add(f"m {self.names} {bytes}" + (f" {stream}" if stream else ""))
        self.live.append(self.names)
        self.streams[self.names] = stream
        return self.names

    def free(self, block):
        self.live.remove(block)
        self.add(f"f {block}")

    def free_any(self):
        if self.live:
            self.free(self.dice.pick(self.live))

    def free_all(self):
        for block in list(self.live):
            self.free(block)

    def record(self, block, stream):
        self.add(f"r {block} {stream}")

    def callback(self):
        """Every seventh block will be freed when nothing fits, if that happens before the next."""
        chosen = self.live[::7]
        self.live = [block for block in self.live if block not in chosen]
        self.add("callback " + " ".join(str(block) for block in chosen))

    def text(self):
        return "\n".join(self.lines) + "\n"


def now_and_then(program, every=400):
    """A look at the heap, and for a while at what happens."""
    if program.count % every < 4:
        program.add("snapshot")
    if program.count % 1000 < 4:
        program.add("listen 1")
    if program.count % 1000 in range(300, 304):
        program.add("listen 0")


def training(seed, operations):
    """Steps of a network whose shapes do not change, with gradients that come and go."""
    p = Program(seed, "device 0x100000000")
    layers = p.dice.between(6, 12)
    width = p.dice.between(256, 1500)
    weights = [p.malloc(4 * width * width) for _ in range(layers)]
    weights += [p.malloc(4 * width) for _ in range(layers)]
    states = []
    while p.count < operations:
        acts = []
        batch = 4 * width * p.dice.pick([512, 512, 512, 384])
        for _ in range(layers):
            acts.append(p.malloc(batch))
            temporary = p.malloc(batch * 4)
            acts.append(p.malloc(batch * 4))
            p.free(temporary)
        grads = []
        upstream = p.malloc(batch)
        for layer in range(layers):
            p.free(acts.pop())
            downstream = p.malloc(batch)
            workspace = p.malloc(8519680)
            grads.append(p.malloc(4 * width * width))
            grads.append(p.malloc(4 * width))
            p.free(workspace)
            p.free(upstream)
            p.free(acts.pop())
            upstream = downstream
        p.free(upstream)
        if not states:
            states = [p.malloc(4 * width * width) for _ in range(2 * layers)]
        for grad in grads:
            p.free(grad)
        if p.dice.chance(10):
            p.add("e")
        now_and_then(p)
    assert weights
    return p


def lengths(seed, operations):
    """Batches of sequences whose lengths change from step to step."""
    p = Program(seed, "device 0x80000000")
    for _ in range(24):
        p.malloc(p.dice.between(1, 16) * 786432)
    while p.count < operations:
        length = p.dice.between(17, 1024)
        acts = []
        for _ in range(p.dice.between(4, 10)):
            acts.append(p.malloc(length * 768 * 4))
            scores = p.malloc(length * length * 12)
            acts.append(p.malloc(length * 3072 * 4))
            p.free(scores)
        loss = p.malloc(4)
        logits = p.malloc(length * 8192)
        for act in reversed(acts):
            grad = p.malloc(length * 3072 * 2)
            p.free(act)
            p.free(grad)
        p.free(logits)
        p.free(loss)
        if p.dice.chance(3):
            p.add("peak 0")
        now_and_then(p)
    return p


def serving(seed, operations):
    """Requests come, grow and leave; weights stay."""
    p = Program(seed, "device 0x60000000")
    for _ in range(32):
        p.malloc(p.dice.pick([33554432, 11534336, 25165824, 4096]))
    caches = {}
    while p.count < operations:
        if len(caches) < 24 and p.dice.chance(40):
            tokens = p.dice.between(1, 400)
            caches[p.malloc(tokens * 16384)] = tokens
        for block in list(caches):
            if p.dice.chance(25):
                tokens = caches.pop(block) + p.dice.between(1, 64)
                grown = p.malloc(tokens * 16384)
                p.free(block)
                if tokens > 900 or p.dice.chance(5):
                    p.free(grown)
                else:
                    caches[grown] = tokens
        scratch = p.malloc(p.dice.size(1, 4 * MIB))
        sampled = p.malloc(p.dice.between(1, 64) * 8)
        p.free(scratch)
        p.free(sampled)
        now_and_then(p)
    return p


def leak(seed, operations):
    """A training loop that keeps a little of every step, until memory is out; then it forgets."""
    p = Program(seed, "device 0x20000000")
    kept = []
    while p.count < operations:
        step = [p.malloc(p.dice.pick([1000, 70000, 3000000, 12000000])) for _ in range(12)]
        for block in step:
            if p.dice.chance(18):
                kept.append(block)
            else:
                p.free(block)
        if len(kept) > 110:
            for block in kept[:90]:
                p.free(block)
            del kept[:90]
            if p.dice.chance(50):
                p.add("e")
        now_and_then(p)
    return p


def streams(seed, operations):
    """Several streams that use each other's memory, and complete late."""
    p = Program(seed, "device 0x20000000", "manual", "anycompletion")
    handles = [0, 2, 4, 6, 8, 16]
    while p.count < operations:
        choice = p.dice.below(100)
        if choice < 42:
            block = p.malloc(p.dice.size(1, 40 * MIB), p.dice.pick(handles))
            for _ in range(p.dice.pick([0, 0, 1, 1, 2, 3])):
                p.record(block, p.dice.pick(handles))
        elif choice < 80:
            p.free_any()
        elif choice < 96:
            p.add(f"c {p.dice.pick(handles)}")
        elif choice < 98:
            p.add("call")
        else:
            p.add("e")
        while len(p.live) > 60:
            p.free_any()
        now_and_then(p)
    return p


def pressure(seed, operations):
    """A device that is too small, and others that use it."""
    p = Program(seed, "device 0x10000000")
    while p.count < operations:
        choice = p.dice.below(1000)
        if choice < 520:
            p.malloc(p.dice.size(1, 100 * MIB), p.dice.pick([0, 0, 0, 2]))
        elif choice < 960:
            p.free_any()
        elif choice < 970:
            p.add(f"used 0 {p.dice.between(0, 120) * MIB}")
        elif choice < 978:
            p.add(f"fraction 0 {p.dice.pick(['0.3', '0.5', '0.7', '0.9', '1.0'])}")
        elif choice < 985:
            p.add(f"fail malloc {p.dice.between(1, 4)} oom")
        elif choice < 990:
            p.add(f"fail create {p.dice.between(1, 4)} oom")
        elif choice < 996:
            p.add(f"cacheinfo 0 {p.dice.pick([0, 1])}")
        else:
            p.add("e")
        while len(p.live) > 40:
            p.free_any()
        now_and_then(p)
    p.add("used 0 0")
    p.add("e")
    return p


def oversize(seed, operations):
    """Large blocks around the limits of splitting."""
    p = Program(seed, "device 0x40000000")
    while p.count < operations:
        if p.dice.chance(52):
            near = p.dice.pick([20, 24, 32, 48, 64, 96]) * MIB
            p.malloc(near + p.dice.pick([-512, 0, 0, 512, MIB, 5 * MIB, -3 * MIB, 12345]))
        elif p.dice.chance(12):
            p.malloc(p.dice.size(1, 20 * MIB))
        else:
            p.free_any()
        while len(p.live) > 14:
            p.free_any()
        if p.dice.chance(1):
            p.add("e")
        now_and_then(p)
    return p


def pools(seed, operations):
    """Private pools, nested, left and released, with streams between them."""
    p = Program(seed, "device 0x40000000", "manual", "anyrelease", "anycompletion")
    handles = [0, 2, 4]
    alive = []  # pools with a user
    routed = []
    number = 0
    while p.count < operations:
        choice = p.dice.below(1000)
        if choice < 430:
            block = p.malloc(p.dice.size(1, 25 * MIB), p.dice.pick(handles))
            # Never while routed: PyTorch keeps what is recorded then by the host address of a
            # block, and takes a later block there for the same one.
            if not routed and p.dice.chance(25):
                p.record(block, p.dice.pick(handles))
        elif choice < 840:
            p.free_any()
        elif choice < 890:
            if len(routed) < 3:
                if alive and p.dice.chance(50):
                    pool = p.dice.pick(alive)
                else:
                    number += 1
                    pool = f"0.{number}" if p.dice.chance(70) else f"{number}.0"
                if pool not in routed:
                    stream = p.dice.pick(["", " 2", " 4"])
                    p.add(f"begin 0 {pool}{stream}")
                    routed.append(pool)
                    alive.append(pool)
        elif choice < 945:
            if routed:
                pool = p.dice.pick(routed)
                routed.remove(pool)
                p.add(f"end 0 {pool}")
        elif choice < 968:
            idle = [pool for pool in alive if pool not in routed]
            if idle:
                pool = p.dice.pick(idle)
                alive.remove(pool)
                p.add(f"release 0 {pool}")
        elif choice < 985:
            p.add(f"c {p.dice.pick(handles)}")
        elif choice < 990 and not routed:
            p.add("e")
        elif choice < 994 and alive:
            p.add(f"e {p.dice.pick(alive)}")
        elif choice < 997 and alive:
            p.add(f"snapshot {p.dice.pick(alive)}")
        while len(p.live) > 32:
            p.free_any()
        now_and_then(p)
    for pool in routed:
        p.add(f"end 0 {pool}")
    p.add("call")
    p.free_all()
    for pool in alive:
        p.add(f"release 0 {pool}")
    p.add("e")
    p.add("snapshot")
    return p


def everything(seed, operations):
    """All of it at once, on two devices, with settings that change and a history."""
    p = Program(seed, "device 0x20000000", "device 0x18000000 0x2000000", "manual", "anycompletion")
    handles = {0: [0, 2, 4], 1: [32, 34, 36]}
    where = {}
    device = 0
    while p.count < operations:
        choice = p.dice.below(1000)
        if choice < 450:
            block = p.malloc(p.dice.size(1, 60 * MIB), p.dice.pick(handles[device]))
            where[block] = device
        elif choice < 800:
            p.free_any()
        elif choice < 840:
            mine = [block for block in p.live if where[block] == device]
            if mine:
                p.record(p.dice.pick(mine), p.dice.pick(handles[device]))
        elif choice < 890:
            device = 1 - device
            p.add(f"device {device}")
        elif choice < 930:
            p.add(f"c {p.dice.pick(handles[device])}")
        elif choice < 940:
            p.add("call")
        elif choice < 950:
            p.add("e")
        elif choice < 957:
            p.add(f"conf expandable_segments:{p.dice.pick(['True', 'False'])}")
        elif choice < 962:
            p.add(f"conf max_split_size_mb:{p.dice.pick([65, 66, 100])}")
        elif choice < 966:
            p.add(f"conf roundup_power2_divisions:{p.dice.pick([2, 4, 8])}")
        elif choice < 970:
            p.add("conf garbage_collection_threshold:0.5")
        elif choice < 975:
            p.add(f"fraction {device} {p.dice.pick(['0.5', '0.8', '1.0'])}")
        elif choice < 980:
            p.add("history 0")  # a ring that shrinks is written outside of its end by PyTorch
            p.add(f"history {p.dice.pick([7, 50])} {p.dice.pick(LEVELS)}")
        elif choice < 984:
            p.add("trace")
        elif choice < 987:
            p.add(f"peak {device}")
        elif choice < 989:
            p.add(f"accumulated {device}")
        elif choice < 993:
            p.add(f"fail malloc {p.dice.between(1, 3)} oom")
        elif choice < 996:
            p.add(f"peer {device} {1 - device}")
        else:
            p.add(f"cacheinfo {device} 0")
        while len(p.live) > 40:
            p.free_any()
        now_and_then(p, 500)
    return p


def draw_settings(dice):
    """A string for settings at run time."""
    # What fails to parse has changed half of PyTorch's settings; and under a limit lowered at run
    # time it frees pieces of segments. So limits stay above every segment there may be.
    parts = [f"large_segment_size_mb:{dice.pick([20, 20, 12, 32])}",
             f"max_split_size_mb:{64 + dice.below(60)}",
             f"max_non_split_rounding_mb:{64 + dice.below(40)}",
             f"garbage_collection_threshold:{dice.pick(['0.2', '0.5', '0.9'])}",
             f"roundup_power2_divisions:{dice.pick(['2', '4', '16', '[2:2,16:8,>:4]'])}",
             "expandable_segments:True", "expandable_segments:False"]
    return ",".join(part for part in parts if dice.chance(40))


class Pools:
    """Which private pools have users, and which are routed to."""

    def __init__(self, program, device):
        self.program = program
        self.device = device
        self.users = {}
        self.routed = []
        self.lender = None  # one at most: several lend in the order of a hash table
        self.count = 0

    def begin(self):
        dice = self.program.dice
        pool = dice.pick(sorted(self.users)) if self.users and dice.chance(60) else self.name()
        if pool not in self.routed and pool != self.lender and len(self.routed) < 3:
            only = dice.pick(["", "", " 2", " 4"])
            self.program.add(f"begin {self.device} {pool}{only}")
            self.routed.append(pool)
            self.users[pool] = self.users.get(pool, 0) + 1

    def name(self):
        self.count += 1
        number = 100 * self.device + self.count
        return f"0.{number}" if self.program.dice.chance(70) else f"{number}.0"

    def retain(self):
        pool = self.name()
        self.program.add(f"retain {self.device} {pool}")
        self.users[pool] = 1
        if self.program.dice.chance(30):
            self.program.add(f"nosplit {self.device} {pool}")

    def end(self):
        if self.routed:
            pool = self.program.dice.pick(self.routed)
            self.routed.remove(pool)
            self.program.add(f"end {self.device} {pool}")

    def release(self):
        idle = [pool for pool in sorted(self.users) if pool not in self.routed]
        if idle:
            pool = self.program.dice.pick(idle)
            if self.lender == pool and self.users[pool] == 1:
                self.lend(pool, False)
            self.program.add(f"release {self.device} {pool}")
            self.users[pool] -= 1
            if self.users[pool] == 0:
                del self.users[pool]

    def lend(self, pool, lends):
        self.program.add(f"useonoom {self.device} {pool} {int(lends)}")
        self.lender = pool if lends else None

    def lend_any(self):
        if self.lender is not None:
            self.lend(self.lender, False)
        elif set(self.users) - set(self.routed):  # PyTorch routes to a lender itself, for a moment
            self.lend(self.program.dice.pick(sorted(set(self.users) - set(self.routed))), True)

    def look(self):
        pool = self.program.dice.pick(sorted(self.users) or ["0.0"])
        word = self.program.dice.pick(["snapshot {1}", "uses {0} {1}", "e {1}"])
        self.program.add(word.format(self.device, pool))


def wild(seed, operations):
    """What a program would not do: every operation, in no order, and a driver that fails."""
    p = Program(seed, "device 0x30000000", "device 0x28000000", "manual", "anyrelease",
                "anycompletion")
    handles = {0: [0, 2, 4], 1: [32, 34, 36]}
    pools = {device: Pools(p, device) for device in handles}
    where = {}
    device = 0
    rare = [
        lambda: p.add(f"conf {draw_settings(p.dice)}"),
        lambda: p.add(f"fraction {device} {p.dice.pick(['0.4', '0.7', '1.0'])}"),
        lambda: p.add(f"used {device} {p.dice.between(0, 100) * MIB}"),
        lambda: p.add(f"fail malloc {p.dice.between(1, 3)} {p.dice.pick(['oom', 'error'])}"),
        lambda: p.add(f"fail create {p.dice.between(1, 5)} oom"),
        lambda: p.add(f"fail reserve 1 {p.dice.pick(['oom', 'error'])}"),
        lambda: p.add("fail mem_info 1 error"),
        p.callback,
        lambda: p.add(f"peer {device} {1 - device}"),
        lambda: p.add(f"cacheinfo {device} {p.dice.below(2)}"),
        lambda: p.live and p.add(f"base {p.dice.pick(p.live)}"),
        lambda: p.add(f"foreign {hex(0x7a0000000000 + 512 * p.dice.below(100000) + 8)}"),
        lambda: p.add("history 0") or p.add(
            f"history {p.dice.pick([5, 60])} {p.dice.pick(LEVELS)}"),
        lambda: p.add("trace"),  # which is told too: nobody listens
        lambda: p.add(f"peak {device}"),
        lambda: p.add(f"accumulated {device}"),
        lambda: p.add("caching 0") or p.malloc(p.dice.size(1, MIB)) and p.add("caching 1"),
        lambda: p.add("e"),
        lambda: p.add("snapshot"),
    ]
    while p.count < operations:
        choice = p.dice.below(1000)
        pool = pools[device]
        if choice < 400:
            block = p.malloc(p.dice.size(1, 40 * MIB), p.dice.pick(handles[device]))
            where[block] = device
            if not pool.routed and p.dice.chance(20):
                p.record(block, p.dice.pick(handles[device]))
        elif choice < 740:
            p.free_any()
        elif choice < 780:
            device = 1 - device
            p.add(f"device {device}")
        elif choice < 820:
            p.add(f"c {p.dice.pick(handles[device])}")
        elif choice < 930:
            p.dice.pick([pool.begin, pool.begin, pool.end, pool.end, pool.release, pool.retain,
                         pool.lend_any, pool.look])()
        else:
            p.dice.pick(rare)()
        while len(p.live) > 40:
            p.free_any()
    return p


def small_blocks(seed, operations):
    """Thousands of small requests on many streams: splitting and merging without end."""
    p = Program(seed, "device 0x8000000")
    handles = [0] + [2 * n for n in range(1, 12)]
    while p.count < operations:
        if p.dice.chance(54):
            p.malloc(p.dice.size(1, 1200000), p.dice.pick(handles[: p.dice.between(1, 12)]))
        else:
            p.free_any()
        while len(p.live) > 120:
            p.free_any()
        if p.dice.chance(1) and p.dice.chance(50):
            p.add("e")
        now_and_then(p, 700)
    return p


KINDS = {
    "training": (training, [1, 2]),
    "lengths": (lengths, [3, 4]),
    "serving": (serving, [5, 6]),
    "leak": (leak, [7, 28]),
    "streams": (streams, [8, 9]),
    "pressure": (pressure, [10, 11]),
    "oversize": (oversize, [12, 13]),
    "pools": (pools, [14, 15]),
    "everything": (everything, [16, 17]),
    "wild": (wild, [24, 25]),
    "small_blocks": (small_blocks, [19, 22]),
}


def scripts(operations=4000):
    """{name: text} of all seeded scripts."""
    return {
        f"random_{kind}_{seed}": make(seed, operations).text()
        for kind, (make, seeds) in KINDS.items()
        for seed in seeds
    }
