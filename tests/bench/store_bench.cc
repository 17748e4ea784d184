// store_bench: the local store, measured inside a process because the start of a process would hide
// the numbers, and loops of system calls for comparison (tests/bench/store_bench.py). Each command
// prints a JSON object; times are in seconds.
//
//   store_bench small DIR COUNT
//       4 KB blobs out of memory, put 256 at a time and committed 4,096 at a time: durable in
//       groups
//   store_bench stat DIR
//       lstat() of all files below DIR, one after the other
//   store_bench link DIR FOLDERS COUNT
//       COUNT new names in FOLDERS folders of DIR for 512 files of its own
//   store_bench tree DIR FILES FOLDERS COUNT
//       puts a tree of COUNT paths that name FILES large files; prints its root
//   store_bench checkout DIR ROOT TO RUNS
//       lays the tree out with links, RUNS times, in one process
//   store_bench fill DIR COUNT
//       a store of COUNT blobs of 16 bytes; `--kill` ends without closing the store, with blobs put
//       after the last commit
//   store_bench open DIR
//       opens the store: time, and resident memory then and after 10,000 look-ups
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/local/open.h"
#include "common/tree/tree.h"
#include "director/stage/checkout.h"
#include "fmt/format.h"

namespace galley {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "store_bench: %s\n", what.c_str());
  std::exit(1);
}
void Require(const absl::Status& status) {
  if (!status.ok()) Die(MessageOf(status));
}
template <typename T>
T Require(absl::StatusOr<T> value) {
  Require(value.status());
  return *std::move(value);
}

double Now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string RandomBytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    const uint64_t value = random();
    std::memcpy(&bytes[i], &value, std::min(sizeof(value), size - i));
  }
  return bytes;
}

uint64_t ResidentKiB() {
  const std::string status = Require(ReadFile("/proc/self/status"));
  const size_t at = status.find("VmRSS:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 6, nullptr, 10);
}

void PutAll(store::Store& store, const std::vector<std::string>& blobs,
            const std::vector<Digest>& digests, size_t begin, size_t end) {
  std::vector<store::BlobView> views;
  for (size_t i = begin; i < end; ++i) views.push_back({digests[i], blobs[i]});
  for (const absl::Status& status : store.PutMany(views)) Require(status);
}

int Small(const std::string& directory, size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::string> blobs;
  std::vector<Digest> digests;
  for (size_t i = 0; i < count; ++i) {
    blobs.push_back(RandomBytes(random, 4096));
    digests.push_back(Digest::Of(blobs.back()));
  }
  const auto store = Require(store::OpenLocalStore(directory));
  const double began = Now();
  for (size_t i = 0; i < count; i += 256) {
    PutAll(*store, blobs, digests, i, std::min(count, i + 256));
    if (i % 4096 == 0 || i + 256 >= count) Require(store->Commit({}));
  }
  std::puts(fmt::format("{{\"blobs\": {}, \"seconds\": {:.4f}}}", count, Now() - began).c_str());
  return 0;
}

int Stat(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  uint64_t bytes = 0;
  const double began = Now();
  for (const std::string& path : paths) {
    struct stat s {};
    if (::lstat(path.c_str(), &s) != 0) Die(path);
    bytes += static_cast<uint64_t>(s.st_size);
  }
  const double loop = Now() - began;
  const double walk_began = Now();
  size_t walked = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    struct stat s {};
    if (::lstat(entry.path().c_str(), &s) != 0) Die(entry.path());
    ++walked;
  }
  std::puts(fmt::format("{{\"files\": {}, \"bytes\": {}, \"seconds\": {:.4f}, \"walk\": {:.4f}}}",
                        paths.size(), bytes, loop, Now() - walk_began)
                .c_str());
  return walked == 0;
}

std::string PathOf(size_t i, size_t folders) { return fmt::format("d{}/f{}", i % folders, i); }

int Link(const std::string& directory, size_t folders, size_t count) {
  constexpr size_t kFiles = 512;
  std::vector<std::string> from, to;
  for (size_t i = 0; i < kFiles; ++i) {
    from.push_back(fmt::format("{}/from{}", directory, i));
    Require(WriteFileAtomic(from.back(), "x"));
  }
  for (size_t i = 0; i < folders; ++i)
    Require(CreateDirectories(fmt::format("{}/d{}", directory, i)));
  // The names come folder by folder, as a tree is laid out.
  for (size_t folder = 0; folder < folders; ++folder) {
    for (size_t i = folder; i < count; i += folders)
      to.push_back(JoinPath(directory, PathOf(i, folders)));
  }
  const double began = Now();
  for (size_t i = 0; i < to.size(); ++i) {
    if (::link(from[i % kFiles].c_str(), to[i].c_str()) != 0) Die(to[i]);
  }
  std::puts(fmt::format("{{\"links\": {}, \"seconds\": {:.4f}}}", count, Now() - began).c_str());
  return 0;
}

int Tree(const std::string& directory, size_t files, size_t folders, size_t count) {
  const auto store = Require(store::OpenLocalStore(directory));
  std::mt19937_64 random(2);
  std::vector<Digest> digests;
  for (size_t i = 0; i < files; ++i) {
    const std::string bytes = RandomBytes(random, (1 << 20) + 4096);
    digests.push_back(Digest::Of(bytes));
    Require(store->Put(digests.back(), bytes));
  }
  std::vector<tree::TreeFile> list;
  for (size_t i = 0; i < count; ++i) list.push_back({PathOf(i, folders), digests[i % files]});
  const auto built = tree::BuildTree(list, [](std::string_view name) { return std::string(name); });
  for (const auto& [digest, bytes] : built.directories) Require(store->Put(digest, bytes));
  Require(store->Commit({}));
  std::puts(fmt::format("{{\"root\": \"{}\"}}", built.root.ToString()).c_str());
  return 0;
}

int Checkout(const std::string& directory, const std::string& root, const std::string& to,
             size_t runs) {
  const auto store = Require(store::OpenLocalStore(directory));
  director::VerifiedFiles verified;
  std::string seconds;
  uint64_t linked = 0;
  for (size_t i = 0; i < runs; ++i) {
    const double began = Now();
    const auto report =
        Require(director::Checkout(*store, Require(Digest::Parse(root)), fmt::format("{}{}", to, i),
                                   {.link = true, .verified = &verified}));
    seconds += fmt::format("{}{:.4f}", i == 0 ? "" : ", ", Now() - began);
    linked = report.linked;
  }
  std::puts(fmt::format("{{\"linked\": {}, \"seconds\": [{}]}}", linked, seconds).c_str());
  return 0;
}

int Fill(const std::string& directory, size_t count, bool is_killed) {
  constexpr size_t kAtOnce = 4096;
  std::mt19937_64 random(std::random_device{}());
  auto store = Require(store::OpenLocalStore(directory));
  const double began = Now();
  for (size_t at = 0; at < count; at += kAtOnce) {
    std::vector<std::string> blobs;
    std::vector<Digest> digests;
    for (size_t i = 0; i < std::min(kAtOnce, count - at); ++i) {
      blobs.push_back(RandomBytes(random, 16));
      digests.push_back(Digest::Of(blobs.back()));
    }
    PutAll(*store, blobs, digests, 0, blobs.size());
  }
  std::puts(fmt::format("{{\"blobs\": {}, \"seconds\": {:.2f}}}", count, Now() - began).c_str());
  std::fflush(stdout);
  if (is_killed) ::_exit(0);
  return 0;
}

int Open(const std::string& directory) {
  const double began = Now();
  const auto store = Require(store::OpenLocalStore(directory));
  const double seconds = Now() - began;
  const uint64_t resident = ResidentKiB();
  std::mt19937_64 random(3);
  std::vector<Digest> digests;
  for (int i = 0; i < 10'000; ++i) digests.push_back(Digest::Of(RandomBytes(random, 16)));
  for (const Digest& digest : digests) Require(store->FindMissing(std::span(&digest, 1)).status());
  std::puts(fmt::format("{{\"seconds\": {:.4f}, \"resident_kib\": {}, \"resident_after_kib\": {}, "
                        "\"blobs\": {}}}",
                        seconds, resident, ResidentKiB(), Require(store->Stats()).blobs)
                .c_str());
  return 0;
}

int Main(const std::vector<std::string>& args) {
  const auto number = [&](size_t i) { return std::strtoull(args[i].c_str(), nullptr, 10); };
  const std::string mode = args.empty() ? "" : args[0];
  if (mode == "small" && args.size() == 3) return Small(args[1], number(2));
  if (mode == "stat" && args.size() == 2) return Stat(args[1]);
  if (mode == "link" && args.size() == 4) return Link(args[1], number(2), number(3));
  if (mode == "tree" && args.size() == 5) return Tree(args[1], number(2), number(3), number(4));
  if (mode == "checkout" && args.size() == 5) return Checkout(args[1], args[2], args[3], number(4));
  if (mode == "fill" && (args.size() == 3 || args.size() == 4))
    return Fill(args[1], number(2), args.back() == "--kill");
  if (mode == "open" && args.size() == 2) return Open(args[1]);
  Die("usage: at the head of tests/bench/store_bench.cc");
}

}  // namespace
}  // namespace galley

int main(int argc, char** argv) {
  return galley::Main(std::vector<std::string>(argv + 1, argv + argc));
}
