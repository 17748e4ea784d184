// Fakes on the other side of an HttpDoor: a face that a test fills, a source of bytes that counts
// its reads, and a stream of events that a test pushes.
// Threads: any.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "director/serve/http/http_face.h"

namespace galley::director {

// FakeFace: calls the handler, and remembers the paths that were asked for, as "/a/b".
class FakeFace final : public HttpFace {
 public:
  using Handler = std::function<void(HttpRequest, HttpResponder)>;

  void SetHandler(Handler handler) {
    const base::MutexLock lock(mutex_);
    handler_ = std::move(handler);
  }
  // Every request gets this.
  void SetAnswer(HttpAnswer answer) {
    SetHandler([answer = std::move(answer)](const HttpRequest&, const HttpResponder& responder) {
      responder.Answer(answer);
    });
  }
  // Requests are kept until the test takes them.
  void KeepRequests() {
    SetHandler([this](const HttpRequest&, HttpResponder responder) {
      const base::MutexLock lock(mutex_);
      kept_.push_back(std::move(responder));
    });
  }
  // nullopt: there is none.
  std::optional<HttpResponder> TakeKept() {
    const base::MutexLock lock(mutex_);
    if (kept_.empty()) return std::nullopt;
    HttpResponder responder = std::move(kept_.front());
    kept_.erase(kept_.begin());
    return responder;
  }

  void Answer(HttpRequest request, HttpResponder responder) override {
    Handler handler;
    {
      const base::MutexLock lock(mutex_);
      std::string path;
      for (const std::string& segment : request.target.segments) path += "/" + segment;
      paths_.push_back(path.empty() ? "/" : path);
      handler = handler_;
    }
    handler(std::move(request), std::move(responder));
  }
  std::vector<std::string> paths() const {
    const base::MutexLock lock(mutex_);
    return paths_;
  }

 private:
  mutable base::Mutex mutex_;
  Handler handler_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> paths_ GALLEY_GUARDED_BY(mutex_);
  std::vector<HttpResponder> kept_ GALLEY_GUARDED_BY(mutex_);
};

// FakeSource: bytes that are read piece by piece.
class FakeSource : public HttpBlobSource {
 public:
  explicit FakeSource(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  absl::Status ReadAt(uint64_t offset, std::span<char> into) override {
    ++reads_;
    if (offset + into.size() > readable_bytes_) return absl::DataLossError("the disk is broken");
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return absl::OkStatus();
  }
  // Bytes from `offset` cannot be read.
  void BreakAt(uint64_t offset) { readable_bytes_ = offset; }
  int reads() const { return reads_; }

 private:
  const std::string bytes_;
  std::atomic<uint64_t> readable_bytes_{UINT64_MAX};
  std::atomic<int> reads_{0};
};

// FakeFileSource: bytes in an open file, behind `offset` others.
class FakeFileSource final : public FakeSource {
 public:
  FakeFileSource(const std::string& bytes, uint64_t offset)
      : FakeSource(bytes), offset_(offset), file_(::memfd_create("body", MFD_CLOEXEC)) {
    GALLEY_CHECK(WriteAll(file_.get(), std::string(offset, '#') + bytes + "###", "body").ok());
  }
  std::optional<File> file() const override {
    return File{.descriptor = file_.get(), .offset = offset_};
  }

 private:
  const uint64_t offset_;
  const FileDescriptor file_;
};

// FakeStream: gives what was pushed since the last time, or "behind" when that is too much.
class FakeStream final : public HttpEventStream {
 public:
  explicit FakeStream(std::function<void()> on_end = nullptr) : on_end_(std::move(on_end)) {}
  ~FakeStream() override {
    if (on_end_) on_end_();
  }
  void Push(std::string event) {
    std::function<void()> wake;
    {
      const base::MutexLock lock(mutex_);
      events_ += event;
      wake = wake_;
    }
    if (wake) wake();
  }
  void End() {
    std::function<void()> wake;
    {
      const base::MutexLock lock(mutex_);
      is_over_ = true;
      wake = wake_;
    }
    if (wake) wake();
  }
  void SetWake(std::function<void()> wake) override {
    const base::MutexLock lock(mutex_);
    wake_ = std::move(wake);
  }
  std::optional<std::string> TakeEvents(size_t bytes_max) override {
    const base::MutexLock lock(mutex_);
    ++takes_;
    if (events_.empty() && is_over_) return std::nullopt;
    std::string taken = std::exchange(events_, "");
    return taken.size() > bytes_max ? "data: behind\n\n" : taken;
  }
  bool has_begun() const {
    const base::MutexLock lock(mutex_);
    return takes_ > 0;
  }
  int takes() const {
    const base::MutexLock lock(mutex_);
    return takes_;
  }

 private:
  const std::function<void()> on_end_;
  mutable base::Mutex mutex_;
  std::function<void()> wake_ GALLEY_GUARDED_BY(mutex_);
  std::string events_ GALLEY_GUARDED_BY(mutex_);
  bool is_over_ GALLEY_GUARDED_BY(mutex_) = false;
  int takes_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace galley::director
