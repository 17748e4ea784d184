// store_driver: a store under load, for tests that cut the power or let system calls fail.
//
//   store_driver write DIRECTORY SEED THREADS GROUPS [--shared]   GROUPS 0: until it is killed
//   store_driver check DIRECTORY ACKNOWLEDGED
//   store_driver read DIRECTORY ASKED
//   store_driver put DIRECTORY TEXT
//
// `write` puts, commits and publishes from THREADS threads, which are clients and workers in turn,
// and reads again what was acknowledged. Before a thread goes on, it prints a line for each thing
// that a call has acknowledged as durable (acknowledged.h). A call that fails is reported; like a
// user, the thread then continues. Ends with 0, or 3 when calls failed, or 1 after a wrong answer.
//
// `check` opens the store and asks for every line of the file ACKNOWLEDGED; then it writes, too.
// Ends with 0, or 1 and a line for each thing that is lost or wrong.
//
// `read` asks for every line of the file ASKED (served.h), as a client where somebody owns the
// store. It prints a line for each thing that is absent, refused, or wrong. Ends with 0, or 1 when
// wrong bytes were served, or 3 when an answer could not be given.
//
// `put` puts TEXT and commits nothing: where somebody owns the store, TEXT is pending there. Ends
// with 0 or 3.

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/record/result.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_writer.h"
#include "common/store/owner/shared_store.h"
#include "fmt/format.h"
#include "tests/testing/acknowledged.h"
#include "tests/testing/served.h"

namespace galley::store {
namespace {

constexpr int kWrong = 1, kUsage = 2, kFailed = 3;
constexpr size_t kBytesMax = 20'000;       // of most blobs
constexpr size_t kFileBytesMax = 100'000;  // of files, in addition to their least size
constexpr absl::Duration kOwnerWait = absl::Seconds(10);

// Outcome: shared by all threads of a writer.
class Outcome {
 public:
  explicit Outcome(uint64_t seed) : random_(seed) {}

  // A single write, so that a kill tears no line.
  void Acknowledge(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    const base::MutexLock lock(mutex_);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
    if (!WriteAll(STDOUT_FILENO, text, "standard output").ok()) Note(kWrong, "no output");
  }
  // Any of the lines so far; empty: there is none.
  std::string AnyLine() {
    const base::MutexLock lock(mutex_);
    return lines_.empty() ? "" : lines_[random_() % lines_.size()];
  }
  // Notes the answer to a call.
  void Tell(const absl::Status& status) {
    if (!status.ok()) Note(kFailed, status.ToString());
  }
  // Notes the answer to a question for something that was acknowledged.
  void TellAnswer(const absl::Status& status) {
    if (!status.ok()) Note(IsWrong(status) ? kWrong : kFailed, status.ToString());
  }
  int code() const { return is_wrong_ ? kWrong : has_failed_ ? kFailed : 0; }

 private:
  void Note(int code, const std::string& text) {
    (code == kWrong ? is_wrong_ : has_failed_) = true;
    fmt::print(stderr, "{}: {}\n", code == kWrong ? "wrong" : "failed", text);
  }

  base::Mutex mutex_;
  std::mt19937_64 random_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> lines_ GALLEY_GUARDED_BY(mutex_);
  std::atomic<bool> is_wrong_ = false;
  std::atomic<bool> has_failed_ = false;
};

// A thread of a writer.
class Writer {
 public:
  Writer(Store& store, const std::string& directory, uint64_t seed, int number, Outcome& outcome)
      : store_(store),
        directory_(directory),
        name_(fmt::format("{} {}", seed, number)),
        platform_(number % 4 < 2 ? "pc" : "deck"),
        random_(seed * 1000 + static_cast<uint64_t>(number)),
        outcome_(outcome) {}

  // Runs the steps one after the other; a new kind of work becomes another step.
  void RunGroup(int group) {
    struct Step {
      int every;
      absl::Status (Writer::*run)();
    };
    constexpr Step kSteps[] = {
        {.every = 1, .run = &Writer::CommitResults},
        {.every = 3, .run = &Writer::PublishRoot},
    };
    for (const Step& step : kSteps) {
      if (group % step.every == 0) outcome_.Tell((this->*step.run)());
    }
    const std::string line = outcome_.AnyLine();
    if (!line.empty()) outcome_.TellAnswer(CheckAcknowledged(store_, line));
  }

 private:
  // Bytes that are never the same twice.
  std::string Bytes(size_t size) {
    std::string bytes = fmt::format("{} {} ", name_, ++made_);
    while (bytes.size() < size) {
      const uint64_t word = random_();
      bytes.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    return bytes;
  }
  size_t AnySize() {
    return random_() % 32 == 0 ? kSmallBlobBytesMax + 1 + random_() % kFileBytesMax
                               : random_() % kBytesMax;
  }

  // Puts the bytes as a client does, or writes them as a worker does.
  absl::StatusOr<Digest> Keep(std::string_view bytes, CommitBatch& batch) {
    if (!is_worker_) {
      const Digest digest = Digest::Of(bytes);
      RETURN_IF_ERROR(store_.Put(digest, bytes));
      return digest;
    }
    if (segment_ == nullptr) {
      ASSIGN_OR_RETURN(const uint64_t number, store_.AllocateSegment());
      ASSIGN_OR_RETURN(segment_, SegmentWriter::Open(directory_, number));
    }
    const auto written = segment_->Append(bytes);
    if (!written.ok()) segment_ = nullptr;
    RETURN_IF_ERROR(written.status());
    batch.blobs.push_back(*written);
    return written->first;
  }

  PutResult ResultWith(const Digest& output) {
    record::Result result;
    result.outputs.push_back({.suffix = ".out", .digest = output});
    return {.weak_key = Digest::Of(Bytes(1)),
            .observation_set = Bytes(random_() % 200),
            .action_key = Digest::Of(Bytes(1)),
            .result = record::EncodeResult(result)};
  }
  PutActionResult ForeignResultWith(const Digest& output) {
    WireWriter digest, file, result;
    digest.Bytes(1, output.hex());
    digest.Varint(2, output.size_bytes());
    file.Bytes(1, "out");
    file.Element(2, digest.bytes());
    result.Element(2, file.bytes());
    return {.instance = std::string(kDriverInstance),
            .action = Digest::Of(Bytes(1)),
            .result = result.Take(),
            .peer = "store_driver"};
  }

  absl::Status CommitResults() {
    CommitBatch batch;
    std::vector<std::string> lines;
    const size_t blobs = 1 + random_() % 8;
    is_worker_ = random_() % 2 == 0;
    for (size_t i = 0; i < blobs; ++i) {
      ASSIGN_OR_RETURN(const Digest digest, Keep(Bytes(AnySize()), batch));
      lines.push_back(BlobLine(digest));
      if (i % 2 == 0) batch.results.push_back(ResultWith(digest));
      if (i == 1) batch.action_results.push_back(ForeignResultWith(digest));
    }
    RETURN_IF_ERROR(Annotate(store_.Commit(batch), "commit"));
    for (const PutResult& put : batch.results) {
      lines.push_back(ResultLine(put));
      lines.push_back(SetLine(put));
    }
    for (const PutActionResult& put : batch.action_results) lines.push_back(ForeignLine(put));
    outcome_.Acknowledge(lines);
    return absl::OkStatus();
  }

  absl::Status PublishRoot() {
    const std::string bytes = Bytes(100);
    PublishedRoot root = {.project_id = std::string(kDriverProject),
                          .platform = platform_,
                          .root = Digest::Of(bytes),
                          .time = absl::Now()};
    RETURN_IF_ERROR(store_.Put(root.root, bytes));
    const absl::StatusOr<uint64_t> sequence = store_.Publish(root);
    RETURN_IF_ERROR(Annotate(sequence.status(), "publish"));
    root.sequence = *sequence;
    outcome_.Acknowledge({BlobLine(root.root), RootLine(root)});
    return absl::OkStatus();
  }

  Store& store_;
  const std::string directory_;
  const std::string name_;
  const std::string platform_;
  std::mt19937_64 random_;
  Outcome& outcome_;
  bool is_worker_ = false;  // in the present group
  uint64_t made_ = 0;
  std::unique_ptr<SegmentWriter> segment_;
};

struct Load {
  uint64_t seed = 0;
  int threads = 0;
  int groups = 0;
  bool is_shared = false;
};

absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& directory, bool is_shared) {
  if (!is_shared) return OpenLocalStore(directory);
  return SharedStore::Open(directory, kOwnerWait);
}

int Write(const std::string& directory, const Load& load) {
  Outcome outcome(load.seed);
  const auto store = Open(directory, load.is_shared);
  outcome.Tell(store.status());
  if (!store.ok()) return outcome.code();
  std::vector<std::thread> threads;
  for (int number = 0; number < load.threads; ++number) {
    threads.emplace_back([&, number] {
      Writer writer(**store, directory, load.seed, number, outcome);
      for (int group = 1; load.groups == 0 || group <= load.groups; ++group) writer.RunGroup(group);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcome.code();
}

// Checks that the store works like any other: new writes are there, and roots continue in order.
absl::Status CheckItWrites(Store& store) {
  ASSIGN_OR_RETURN(const std::vector<PublishedRoot> before, store.Roots(kDriverProject));
  const std::string bytes = fmt::format("written after {} roots", before.size());
  PublishedRoot root = {.project_id = std::string(kDriverProject),
                        .platform = "pc",
                        .root = Digest::Of(bytes),
                        .time = absl::Now()};
  RETURN_IF_ERROR(store.Put(root.root, bytes));
  RETURN_IF_ERROR(store.Commit({}));
  RETURN_IF_ERROR(CheckAcknowledged(store, BlobLine(root.root)));
  ASSIGN_OR_RETURN(root.sequence, store.Publish(root));
  for (const PublishedRoot& other : before) {
    if (other.platform == root.platform && other.sequence >= root.sequence)
      return absl::DataLossError(fmt::format("sequence {} was given before", root.sequence));
  }
  return CheckAcknowledged(store, RootLine(root));
}

int Check(const std::string& directory, const std::string& acknowledged) {
  const absl::StatusOr<std::string> text = ReadFile(acknowledged);
  const auto store = OpenLocalStore(directory);
  int wrong = 0, lines = 0;
  const auto tell = [&](const absl::Status& status) {
    if (status.ok()) return;
    ++wrong;
    fmt::print("{}\n", status.ToString());
  };
  tell(text.status());
  tell(Annotate(store.status(), "open"));
  if (wrong != 0) return kWrong;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line); ++lines)
    tell(CheckAcknowledged(**store, line));
  tell(Annotate(CheckItWrites(**store), "writing"));
  fmt::print("{} acknowledged, {} wrong\n", lines, wrong);
  return wrong == 0 ? 0 : kWrong;
}

int Read(const std::string& directory, const std::string& asked) {
  const absl::StatusOr<std::string> text = ReadFile(asked);
  const auto store = SharedStore::Open(directory, kOwnerWait);
  for (const absl::Status& status : {text.status(), Annotate(store.status(), "open")}) {
    if (status.ok()) continue;
    fmt::print("failed {}\n", status.ToString());
    return kFailed;
  }
  int code = 0;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line);) {
    const Served served = ReadServed(**store, line);
    if (served.kind == ServedKind::kRight) continue;
    fmt::print("{} {}: {}\n", NameOf(served.kind), line, served.why);
    if (served.kind == ServedKind::kFailed && code == 0) code = kFailed;
    if (served.kind == ServedKind::kWrong) code = kWrong;
  }
  return code;
}

int Put(const std::string& directory, const std::string& text) {
  const auto store = SharedStore::Open(directory, kOwnerWait);
  const absl::Status status = store.ok() ? (*store)->Put(Digest::Of(text), text) : store.status();
  if (!status.ok()) fmt::print(stderr, "failed: {}\n", status.ToString());
  return status.ok() ? 0 : kFailed;
}

int Run(const std::vector<std::string>& arguments) {
  Load load;
  const size_t count = arguments.size();
  if (count == 4 && arguments[1] == "read") return Read(arguments[2], arguments[3]);
  if (count == 4 && arguments[1] == "put") return Put(arguments[2], arguments[3]);
  if (count == 4 && arguments[1] == "check") return Check(arguments[2], arguments[3]);
  load.is_shared = count == 7 && arguments[6] == "--shared";
  const bool is_write = (count == 6 || load.is_shared) && arguments[1] == "write" &&
                        absl::SimpleAtoi(arguments[3], &load.seed) &&
                        absl::SimpleAtoi(arguments[4], &load.threads) &&
                        absl::SimpleAtoi(arguments[5], &load.groups);
  if (is_write) return Write(arguments[2], load);
  fmt::print(stderr, "usage: store_driver write|check|read|put DIRECTORY ... (see the source)\n");
  return kUsage;
}

}  // namespace
}  // namespace galley::store

int main(int argc, char** argv) {
  return galley::store::Run(std::vector<std::string>(argv, argv + argc));
}
