// SessionProcessTest: the fixture of tests with a real galley-worker session and real executors,
// against a director that lives in the test's process.
#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "common/content/snapshot.h"
#include "common/record/recipe.h"
#include "common/store/local/open.h"
#include "common/wire/worker_protocol.h"
#include "fmt/format.h"
#include "galley/v1/worker.grpc.pb.h"
#include "gtest/gtest.h"

namespace galley::worker {

using ServerStream = grpc::ServerReaderWriter<v1::ToWorker, v1::FromWorker>;

// A director with a single worker: it remembers what it hears and sends what the test says.
class FakeDirector final : public v1::Director::Service {
 public:
  grpc::Status Attach(grpc::ServerContext* context, ServerStream* stream) override {
    v1::FromWorker message;
    if (!stream->Read(&message) || message.hello().token() != "secret") {
      return {grpc::StatusCode::UNAUTHENTICATED, "wrong token"};
    }
    {
      base::MutexLock lock(mutex_);
      if (refusals_ > 0) {
        --refusals_;
        return {grpc::StatusCode::UNAVAILABLE, "not yet"};
      }
      stream_ = stream;
      context_ = context;
      sequence_ = 0;
      acknowledged_ = 0;
      memory_bytes_ = message.hello().memory_bytes();
      ++attached_;
    }
    do {
      base::MutexLock lock(mutex_);
      acknowledged_ = message.acknowledged();
      for (const v1::Report& report : message.reports()) reports_.push_back(report);
      for (const v1::LogLine& line : message.log()) log_ += line.text() + "\n";
      if (message.goodbye()) said_goodbye_ = true;
      if (message.has_collections()) collections_ = message.collections();
      most_pending_ = std::max(most_pending_, message.pending().attempts_size());
    } while (stream->Read(&message));
    base::MutexLock lock(mutex_);
    if (stream_ != stream) return grpc::Status::OK;  // the next stream may be there already
    stream_ = nullptr;
    context_ = nullptr;
    return grpc::Status::OK;
  }

  bool WaitForAttach(int times) {
    return Wait(fmt::format("attach {}", times),
                [&] { return attached_ >= times && stream_ != nullptr; });
  }

  // Makes the next `times` attaches find that the director does not serve yet.
  void RefuseFor(int times) {
    base::MutexLock lock(mutex_);
    refusals_ = times;
  }
  int refusals_left() {
    base::MutexLock lock(mutex_);
    return refusals_;
  }

  void Send(v1::ToWorker message) {
    base::MutexLock lock(mutex_);
    message.set_sequence(++sequence_);
    ASSERT_NE(stream_, nullptr);
    stream_->Write(message);
  }

  // When this returns, the slots have the messages that were sent.
  bool WaitForAcknowledgement() {
    return Wait("the acknowledgement of all messages", [&] { return acknowledged_ == sequence_; });
  }

  void Break() {
    base::MutexLock lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

  // Every report of the attempt, once its Ended has come.
  std::vector<v1::Report> WaitForEnd(uint64_t attempt) {
    std::vector<v1::Report> of_attempt;
    Wait(fmt::format("the end of attempt {}", attempt), [&] {
      of_attempt.clear();
      for (const v1::Report& report : reports_) {
        if (report.attempt() == attempt) of_attempt.push_back(report);
      }
      return !of_attempt.empty() && of_attempt.back().has_ended();
    });
    return of_attempt;
  }

  bool WaitForLoaded(uint64_t attempt) {
    return Wait(fmt::format("the load of attempt {}", attempt), [&] {
      return std::any_of(reports_.begin(), reports_.end(), [&](const v1::Report& report) {
        return report.attempt() == attempt && report.has_loaded();
      });
    });
  }

  bool WaitForLog(const std::string& words) {
    return Wait("the log to say: " + words, [&] { return log_.find(words) != std::string::npos; });
  }

  template <typename Condition>
  bool WaitForCollections(Condition condition) {
    return Wait("collections", [&] { return condition(collections_); });
  }

  uint64_t memory_bytes() {
    base::MutexLock lock(mutex_);
    return memory_bytes_;
  }

  int most_pending() {
    base::MutexLock lock(mutex_);
    return most_pending_;
  }

  bool WaitForGoodbye() {
    return Wait("a goodbye", [&] { return said_goodbye_; });
  }

 private:
  template <typename Condition>
  bool Wait(const std::string& what, Condition condition) {
    return AwaitOrFail(
        [&] {
          base::MutexLock lock(mutex_);
          return condition();
        },
        what);
  }

  base::Mutex mutex_;
  ServerStream* stream_ = nullptr;
  grpc::ServerContext* context_ = nullptr;
  uint64_t sequence_ = 0;
  uint64_t acknowledged_ = 0;
  int attached_ = 0;
  int refusals_ = 0;
  bool said_goodbye_ = false;
  uint64_t memory_bytes_ = 0;
  v1::Collections collections_;
  int most_pending_ = 0;  // at a time
  std::vector<v1::Report> reports_;
  std::string log_;
};

class SessionProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = *MakeTemporaryDirectory("/tmp", "session-");  // a short path: sockets have a limit
    ASSERT_TRUE(CreateDirectories(root_ + "/game").ok());
    ASSERT_TRUE(WriteFileAtomic(root_ + "/game/readme.txt", "hello").ok());
    ASSERT_TRUE(WriteFileAtomic(root_ + "/game/large.bin", std::string(600'000, 'x')).ok());
    ASSERT_TRUE(WriteFileAtomic(root_ + "/token", "secret\n").ok());
    auto snapshot = content::Snapshot::Scan(
        {.mounts = {{.path = "/Game", .directory = root_ + "/game"}}, .threads = 1});
    ASSERT_TRUE(snapshot.ok());
    ASSERT_TRUE((*snapshot)->WriteTable(root_ + "/table").ok());
    auto store = store::OpenLocalStore(root_ + "/store");
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    segment_ = *store_->AllocateSegment();

    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + root_ + "/s", grpc::InsecureServerCredentials());
    builder.RegisterService(&director_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  void TearDown() override {
    session_ = ChildProcess();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
    store_.reset();
    RemoveAll(root_).IgnoreError();
  }

  void StartSession(bool give_segment = true) {
    auto child = ChildProcess::Start(
        {.argv = {std::string(GALLEY_BIN_DIR) + "/galley-worker", "session", "--director",
                  "unix:" + root_ + "/s", "--id", "local-1", "--slots", "1"},
         .environment = {"GALLEY_TOKEN_FILE=" + root_ + "/token"},
         .inherit_environment = true});
    ASSERT_TRUE(child.ok()) << child.status();
    session_ = *std::move(child);
    ASSERT_TRUE(director_.WaitForAttach(1));
    Welcome(give_segment);
  }

  void Welcome(bool give_segment = true) {
    v1::ToWorker message;
    v1::Welcome& welcome = *message.mutable_welcome();
    welcome.set_protocol(wire::kWorkerProtocol);
    welcome.set_store_directory(root_ + "/store");
    welcome.set_scratch_directory(root_ + "/scratch");
    welcome.set_project_root(root_);
    welcome.set_memory_bytes_default(8ull << 30);
    welcome.set_walls("off");  // programs of these tests write beside the project's files
    message.mutable_snapshot()->set_number(1);
    message.mutable_snapshot()->add_platforms()->set_name("linux");
    message.mutable_snapshot()->add_platforms()->set_name("phone");
    message.mutable_snapshot()->set_table_file(root_ + "/table");
    if (give_segment) message.add_segments(segment_);
    director_.Send(message);
  }

  static v1::Job JobOf(uint64_t attempt, const std::string& package) {
    v1::Job job;
    job.set_attempt(attempt);
    job.set_package(package);
    job.set_snapshot(1);
    for (const uint32_t platform : {0u, 1u}) {
      v1::Target& target = *job.add_targets();
      target.set_platform(platform);
      target.set_recipe(record::EncodeRecipe(
          {.cooker = "copy", .identity = "2", .extension = "txt", .settings = "{}"}));
    }
    return job;
  }

  // A job of `command` that runs `script`, for a single platform.
  static v1::Job CommandOf(uint64_t attempt, const std::string& script) {
    v1::Job job = JobOf(attempt, "/Game/readme.txt");
    job.mutable_targets()->RemoveLast();
    const std::string settings = R"({"argv":["sh","-c",")" + script +
                                 R"("],"cooked_inputs":[],"depfile":"","env":{},"outputs":[".o"]})";
    job.mutable_targets(0)->set_recipe(record::EncodeRecipe(
        {.cooker = "command", .identity = "2", .extension = "txt", .settings = settings}));
    return job;
  }

  // The pid that a program writes to `file`, once it is there.
  pid_t PidIn(const std::string& file) {
    std::string text;
    const bool is_there = AwaitOrFail(
        [&] {
          text = ReadFile(root_ + "/" + file).value_or("");
          return text.ends_with('\n');
        },
        "the number of a program in " + file);
    return is_there ? static_cast<pid_t>(std::stol(text)) : -1;
  }

  std::vector<v1::Report> Run(const v1::Job& job) {
    Give(job);
    return director_.WaitForEnd(job.attempt());
  }

  void Give(const v1::Job& job) {
    v1::ToWorker message;
    *message.add_start() = job;
    director_.Send(message);
  }

  // The only executor. REQUIRES: a job has ended, so that there is an executor.
  pid_t ExecutorPid() const {
    for (const std::string& task : Tasks()) {
      const auto text =
          ReadFile("/proc/" + std::to_string(session_.pid()) + "/task/" + task + "/children");
      if (text.ok() && !text->empty()) return static_cast<pid_t>(std::stol(*text));
    }
    return -1;
  }

  size_t Executors() const {
    size_t count = 0;
    for (const std::string& task : Tasks()) {
      const auto text =
          ReadFile("/proc/" + std::to_string(session_.pid()) + "/task/" + task + "/children");
      if (text.ok()) count += static_cast<size_t>(std::count(text->begin(), text->end(), ' '));
    }
    return count;
  }

  // Without a segment the session waits with the first output in hand, and the executor waits with
  // the second output, which fills the socket.
  void KillWithinAJob(int signal, v1::Failed::Cause cause) {
    StartSession(/*give_segment=*/false);
    v1::Job job = JobOf(1, "/Game/large.bin");
    job.mutable_targets(1)->set_recipe(record::EncodeRecipe(
        {.cooker = "copy", .identity = "2", .extension = "txt", .settings = R"({"other":1})"}));
    Give(job);
    ASSERT_TRUE(director_.WaitForLoaded(1));
    const pid_t executor = ExecutorPid();
    ASSERT_GT(executor, 0);
    ::kill(executor, signal);
    v1::ToWorker message;
    message.add_segments(segment_);
    director_.Send(message);
    const std::vector<v1::Report> reports = director_.WaitForEnd(1);
    const v1::Failed* failed = FailureIn(reports);
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->cause(), cause) << failed->error();
    EXPECT_EQ(Run(JobOf(2, "/Game/readme.txt")).size(), 4u);
    EXPECT_NE(ExecutorPid(), executor);
  }

  std::vector<std::string> Tasks() const {
    std::vector<std::string> tasks;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(session_.pid()) + "/task")) {
      tasks.push_back(entry.path().filename().string());
    }
    return tasks;
  }

  static const v1::Failed* FailureIn(const std::vector<v1::Report>& reports) {
    for (const v1::Report& report : reports) {
      if (report.has_failed()) return &report.failed();
    }
    return nullptr;
  }

  std::string root_;
  std::unique_ptr<store::Store> store_;
  uint64_t segment_ = 0;
  FakeDirector director_;
  std::unique_ptr<grpc::Server> server_;
  ChildProcess session_;
};

}  // namespace galley::worker
