"""Each system call by which a store is written fails, once or from then on: nothing that was acknowledged is lost, no answer is wrong.

store_driver runs with fail_syscalls.c before it, which lets the n-th call on the store's files fail; then the driver, without faults,
asks the store for all that was acknowledged, and writes to it. A process that ends itself (RocksDB does so when it cannot write) is a
death like any other. GALLEY_LONG: every n, in every way; else a part of them.
"""
import itertools, os, shutil, signal, subprocess, tempfile, unittest

from harness import BIN, LIMIT_S, SOURCE, E2ETest, kill, wait_until

DRIVER = os.path.join(BIN, "store_driver")
IS_LONG = bool(os.environ.get("GALLEY_LONG"))
STEP = 1 if IS_LONG else 7
WAYS = list(itertools.product(("EIO", "ENOSPC"), ("0", "1")))  # once; from then on
CALLS_MAX = 10_000  # a run that never ends clean
LOAD = ("2", "6")  # threads, groups


@unittest.skipIf("build-asan" in BIN or "build-tsan" in BIN, "a sanitizer's library wants to be loaded first")
class StoreFaultsTest(E2ETest):
    def setUp(self):
        super().setUp()
        # In memory where that can be: thousands of syncs are no use here.
        shm = "/dev/shm"
        self.fast = tempfile.mkdtemp(prefix="galley-e2e-", dir=shm if os.access(shm, os.W_OK) else self.dir)
        self.addCleanup(shutil.rmtree, self.fast, ignore_errors=True)
        self.store = os.path.join(self.fast, "store")
        self.library = self.path("fail.so")
        source = os.path.join(SOURCE, "tests", "testing", "fail_syscalls.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library, source, "-ldl"], check=True)

    def faulty_run(self, at, error, ever, acknowledged, *args):
        """Whether a call failed, what the driver ended with, and what it said."""
        told = self.path("told")
        if os.path.exists(told):
            os.remove(told)
        env = {**os.environ, "LD_PRELOAD": self.library, "GALLEY_FAIL_UNDER": self.store, "GALLEY_FAIL_AT": str(at),
               "GALLEY_FAIL_EVER": ever, "GALLEY_FAIL_ERROR": error, "GALLEY_FAIL_TOLD": told}
        with open(acknowledged, "ab") as output:
            done = subprocess.run([DRIVER, "write", self.store, "2", *LOAD, *args], text=True, errors="replace", stdout=output,
                                  stderr=subprocess.PIPE, env=env, timeout=LIMIT_S)
        failed = self.read("told").decode() if os.path.exists(told) else ""
        return failed, done.returncode, done.stderr

    def every_call(self, before, *args):
        """`before` is a store that is there already, with what it acknowledged; or None."""
        acknowledged = self.path("acknowledged")
        failed_calls, deaths, ways = set(), 0, itertools.cycle(WAYS)
        for at in range(1, CALLS_MAX, STEP):
            is_clean = True
            for error, ever in WAYS if IS_LONG else [next(ways)]:
                shutil.rmtree(self.store, ignore_errors=True)
                self.write(acknowledged, self.read("before.acknowledged") if before else "")
                if before:
                    shutil.copytree(before, self.store, symlinks=True)
                failed, code, stderr = self.faulty_run(at, error, ever, acknowledged, *args)
                what = f"call {at} {'and all after it' if ever == '1' else 'once'}, {error}: {failed}"
                self.assertIn(code, (0, 3, -signal.SIGABRT), f"{what}{stderr[-4000:]}")
                check = subprocess.run([DRIVER, "check", self.store, acknowledged], text=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, timeout=LIMIT_S)
                self.assertEqual(check.returncode, 0, f"{what}{stderr[-3000:]}\n--\n{check.stdout[-3000:]}{check.stderr[-2000:]}")
                is_clean &= not failed
                failed_calls.add(failed.split(" ")[0])
                deaths += code < 0
            if is_clean:
                break
        else:
            self.fail(f"a run has more than {CALLS_MAX} calls")
        print(f"store_faults: calls up to {at}, {deaths} deaths, kinds {sorted(failed_calls - {''})}", flush=True)
        self.assertGreater(at, 150)  # else the library counts nothing
        self.assertGreaterEqual(failed_calls, {"open", "pwritev", "fdatasync"})

    def test_of_a_new_store(self):
        self.every_call(None)

    def test_of_a_store_whose_owner_was_killed(self):
        before = self.path("before")
        acknowledged = self.path("before.acknowledged")
        with open(acknowledged, "wb") as output:
            driver = subprocess.Popen([DRIVER, "write", before, "1", "4", "0"], stdout=output, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.path.getsize(acknowledged) > 20_000 or driver.poll() is not None, "a store with something in it")
        finally:
            kill(driver.pid)
            driver.wait()
        self.every_call(before)

    def test_of_an_owner_who_shares_it(self):
        if not IS_LONG:
            self.skipTest("with --long only")
        self.every_call(None, "--shared")


if __name__ == "__main__":
    unittest.main()
