"""A link between two ends of TCP connections that can be bad: slow, far, held in one direction or both, cut."""
import asyncio, socket, struct, threading, time


class Link:
    def __init__(self, target):
        """`target`: "host:port", where connections go on to; it may be set later."""
        self.target = target
        self.delay_s = 0.0        # each way
        self.bytes_per_s = None   # each way, of all connections; None: as fast as it goes
        self.is_held = {"up": False, "down": False}  # nothing passes, and nobody is told
        self.refuses = False      # new connections are refused
        self.passed = {"up": 0, "down": 0}
        self.free_at = {"up": 0.0, "down": 0.0}
        self.writers = set()
        self.loop = asyncio.new_event_loop()
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self.connect, sock=self.socket))
        self.loop.run_forever()

    def end(self):
        self.reset()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.wait(tasks))
        self.loop.close()
        self.socket.close()

    async def connect(self, reader, writer):
        if self.refuses or self.target is None:
            return self.drop(writer)
        host, _, port = self.target.rpartition(":")
        try:
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            return self.drop(writer)
        self.writers |= {writer, far_writer}
        ways = [asyncio.ensure_future(self.carry("up", reader, far_writer)), asyncio.ensure_future(self.carry("down", far_reader, writer))]
        try:
            await asyncio.wait(ways)
        except asyncio.CancelledError:
            return  # (the link ends)
        for one in (writer, far_writer):
            self.writers.discard(one)
            one.close()

    async def carry(self, way, reader, writer):
        queue = asyncio.Queue(maxsize=64)
        sender = asyncio.ensure_future(self.send(way, queue, writer))
        try:
            while data := await reader.read(64 << 10):
                await queue.put((time.monotonic() + self.delay_s, data))
        except OSError:
            pass
        await queue.put((0, b""))
        await sender

    async def send(self, way, queue, writer):
        try:
            while True:
                due, data = await queue.get()
                if self.bytes_per_s:
                    self.free_at[way] = max(self.free_at[way], time.monotonic()) + len(data) / self.bytes_per_s
                    due = max(due, self.free_at[way])
                await asyncio.sleep(max(0, due - time.monotonic()))
                while self.is_held[way]:
                    await asyncio.sleep(0.02)
                if not data:
                    return writer.close()
                self.passed[way] += len(data)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass

    @staticmethod
    def drop(writer):
        """With a reset."""
        sock = writer.get_extra_info("socket")
        if sock is not None and sock.fileno() >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    def reset(self):
        """All connections end at once."""
        self.loop.call_soon_threadsafe(lambda: [self.drop(writer) for writer in list(self.writers)])

    def hold(self, up=True, down=True):
        self.is_held.update(up=up, down=down)

    def heal(self):
        self.hold(False, False)
        self.refuses = False
        self.delay_s, self.bytes_per_s = 0.0, None
