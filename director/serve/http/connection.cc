#include "director/serve/http/connection.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/serve/http/access_check.h"
#include "director/serve/http/answer_slot.h"
#include "director/serve/http/body_pieces.h"
#include "director/serve/http/body_work.h"
#include "director/serve/http/http_problem.h"
#include "director/serve/http/request_reader.h"
#include "director/serve/http/response_head.h"
#include "director/serve/http/response_plan.h"
#include "director/serve/http/socket_calls.h"

namespace galley::director {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using Socket = asio::posix::stream_descriptor;
using SocketError = boost::system::error_code;

constexpr uint64_t kPieceBytes = 128 << 10;       // of a body that is read piece by piece
constexpr uint64_t kSendFileBytesMin = 64 << 10;  // below this a copy is quicker
constexpr uint64_t kTurnBytes = 1 << 20;          // of a file, before others have their turn
constexpr size_t kEventBytes = 64 << 10;          // of a stream, at a time
constexpr size_t kDiscardedBytesMax = 1 << 20;    // of a client that sends on after its last answer
constexpr std::string_view kComment = ":\n\n";    // an event that says nothing (HTML, 9.2.6)

// Signal: lets one coroutine of the loop wait until another one notifies it. A notice without a
// waiter is lost, so that a waiter checks its condition first.
class Signal {
 public:
  explicit Signal(asio::io_context& context)
      : timer_(context, asio::steady_timer::time_point::max()) {}
  void Notify() { timer_.cancel(); }
  awaitable<void> Wait() {
    SocketError aborted;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, aborted));
  }

 private:
  asio::steady_timer timer_;
};

// PoolCall: a call on the pool, and its result once it is done.
struct PoolCall {
  absl::StatusOr<std::string> result;
  bool is_done = false;  // set on the loop's thread
};

HttpProblem StoppingProblem() {
  return {.status = 503,
          .text = "The server stops; the request was not answered.",
          .retry_after = absl::Seconds(1)};
}

class ConnectionImpl final : public Connection,
                             public std::enable_shared_from_this<ConnectionImpl> {
 public:
  ConnectionImpl(LoopParts& parts, Socket socket, std::unique_ptr<Transport> transport,
                 std::string peer)
      : parts_(parts),
        socket_(std::move(socket)),
        transport_(std::move(transport)),
        peer_(std::move(peer)),
        reader_(parts.options.request),
        changed_(parts.context),
        room_(parts.context),
        since_(parts.Monotonic()) {}

  awaitable<void> Serve();
  std::optional<absl::Time> idle_since() const override {
    const bool is_idle =
        phase_ == Phase::kReading ? !reader_.has_begun() : phase_ == Phase::kShaking;
    return is_idle && !is_closed_ ? std::optional(since_) : std::nullopt;
  }
  void Look(absl::Time now) override;
  void NoteStop() override { changed_.Notify(); }
  void Close() override;

 private:
  enum class Phase { kShaking, kReading, kAsked, kSending, kStreaming, kLingering };
  enum class After { kGoOn, kLinger, kClose };
  struct Reply {
    RequestTerms terms;
    HttpAnswer answer;
    bool keeps_alive = true;
    bool may_chunk = true;
  };

  void Enter(Phase phase, absl::Duration limit);
  void NoteEnd();
  bool HasGone() const { return has_ended_ || is_closed_; }
  std::function<void()> Notifier();

  awaitable<bool> ShakeHands();
  void StartReading();
  awaitable<void> ReadInput();
  bool KeepInput(std::string_view bytes);
  awaitable<RequestReader::Next> ReadRequest();
  awaitable<After> ServeNext();
  awaitable<After> AnswerRequest(RequestReader::Received received);
  awaitable<std::optional<HttpAnswer>> AskFace(HttpRequest request);
  awaitable<After> SendProblem(HttpProblem problem, bool is_head, bool keeps_alive);
  awaitable<After> SendReply(Reply reply);
  void CountAnswer();
  awaitable<After> SendStream(Reply reply, ResponsePlan plan);
  awaitable<bool> SendEvents(std::shared_ptr<HttpEventStream> stream, bool is_chunked);
  void WakeBy(HttpEventStream& stream, std::shared_ptr<std::atomic<bool>> is_woken);
  awaitable<bool> SendParts(std::string head, std::vector<BodyPart> parts, HttpBody body);
  awaitable<bool> SendRange(std::string pending, http::ByteRange range,
                            std::shared_ptr<HttpBlobSource> source);
  awaitable<bool> SendFile(HttpBlobSource::File file, uint64_t bytes);
  void CallPool(std::shared_ptr<PoolCall> call, BodyWork work);
  awaitable<absl::StatusOr<std::string>> AwaitPool(BodyWork work);
  awaitable<bool> WriteText(std::string text, bool more_follows);
  awaitable<bool> WriteAll(std::vector<std::string_view> pieces, bool more_follows);
  void NoteSent(size_t bytes);
  awaitable<bool> AwaitProgress(IoState state);
  awaitable<bool> AwaitSocket(IoState state);
  awaitable<void> Linger();

  LoopParts& parts_;
  Socket socket_;
  const std::unique_ptr<Transport> transport_;
  const std::string peer_;
  RequestReader reader_;
  Signal changed_;  // waited for by Serve
  Signal room_;     // waited for by ReadInput
  Phase phase_ = Phase::kShaking;
  absl::Time since_;  // of the phase
  absl::Time deadline_ = absl::InfiniteFuture();
  absl::Time comment_due_ = absl::InfiniteFuture();
  int uncounted_status_ = 0;  // of the answer of which nothing has been sent; 0: none
  uint64_t sent_bytes_ = 0;
  size_t discarded_bytes_ = 0;
  bool has_served_ = false;  // a request
  bool has_ended_ = false;   // the client sends no more
  bool is_closed_ = false;
  bool is_overdue_ = false;  // in kReading
};

void ConnectionImpl::Enter(Phase phase, absl::Duration limit) {
  phase_ = phase;
  since_ = parts_.Monotonic();
  deadline_ = since_ + limit;
}

void ConnectionImpl::NoteEnd() {
  has_ended_ = true;
  changed_.Notify();
}

std::function<void()> ConnectionImpl::Notifier() {
  return [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->changed_.Notify();
  };
}

void ConnectionImpl::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  SocketError ignored;
  socket_.close(ignored);
  changed_.Notify();
  room_.Notify();
}

void ConnectionImpl::Look(absl::Time now) {
  if (is_closed_) return;
  if (phase_ == Phase::kStreaming && now >= comment_due_) changed_.Notify();
  const bool waits = phase_ == Phase::kAsked || phase_ == Phase::kStreaming;
  // Nobody reads while there is no room, so that nobody sees the end behind what is there.
  if (waits && reader_.room() == 0 && HasPeerEnded(socket_.native_handle())) NoteEnd();
  if (now < deadline_) return;
  deadline_ = absl::InfiniteFuture();
  if (phase_ != Phase::kLingering) ++parts_.deps.counters->timed_out;
  if (phase_ != Phase::kReading) return Close();
  is_overdue_ = true;
  changed_.Notify();
}

awaitable<void> ConnectionImpl::Serve() {
  const bool is_ready = co_await ShakeHands();
  if (is_ready) {
    StartReading();
    After after = After::kGoOn;
    while (after == After::kGoOn) after = co_await ServeNext();
    if (after == After::kLinger) co_await Linger();
  }
  Close();
}

awaitable<bool> ConnectionImpl::ShakeHands() {
  Enter(Phase::kShaking, parts_.options.limits.request_time);
  while (!is_closed_) {
    const IoResult result = transport_->Shake();
    if (result.state == IoState::kDone) co_return true;
    const bool goes_on = co_await AwaitSocket(result.state);
    if (!goes_on) break;
  }
  co_return false;
}

void ConnectionImpl::StartReading() {
  asio::co_spawn(parts_.context, ReadInput(),
                 [self = shared_from_this()](const std::exception_ptr&) { self->NoteEnd(); });
}

awaitable<void> ConnectionImpl::ReadInput() {
  while (!is_closed_) {
    const bool is_lingering = phase_ == Phase::kLingering;
    const size_t wanted = is_lingering ? parts_.scratch.size() : reader_.room();
    if (wanted == 0) {
      co_await room_.Wait();
      continue;
    }
    const IoResult result = transport_->Read(std::span<char>(parts_.scratch.data(), wanted));
    IoState state = result.state;
    if (state == IoState::kDone) {
      if (!KeepInput(std::string_view(parts_.scratch.data(), result.bytes))) break;
      if (result.bytes == wanted || transport_->MayHoldBytes()) continue;
      state = IoState::kWantsRead;
    }
    const bool goes_on = co_await AwaitSocket(state);
    if (!goes_on) break;
  }
}

// False: the client sends without end.
bool ConnectionImpl::KeepInput(std::string_view bytes) {
  if (phase_ == Phase::kLingering) {
    discarded_bytes_ += bytes.size();
    return discarded_bytes_ <= kDiscardedBytesMax;
  }
  reader_.Append(bytes);
  changed_.Notify();
  return true;
}

// NeedsBytes: no request comes any more.
awaitable<RequestReader::Next> ConnectionImpl::ReadRequest() {
  const HttpDoorLimits& limits = parts_.options.limits;
  Enter(Phase::kReading, has_served_ ? limits.idle_time : limits.request_time);
  bool has_begun = !has_served_;
  RequestReader::Next next = RequestReader::NeedsBytes{};
  while (!parts_.is_stopping) {
    next = reader_.TakeRequest();
    room_.Notify();
    const bool is_there = !std::holds_alternative<RequestReader::NeedsBytes>(next);
    if (is_there || HasGone() || is_overdue_) break;
    if (!has_begun && reader_.has_begun()) {
      has_begun = true;
      Enter(Phase::kReading, limits.request_time);
    }
    co_await changed_.Wait();
  }
  deadline_ = absl::InfiniteFuture();
  co_return next;
}

awaitable<ConnectionImpl::After> ConnectionImpl::ServeNext() {
  RequestReader::Next next = co_await ReadRequest();
  has_served_ = true;
  if (auto* const received = std::get_if<RequestReader::Received>(&next))
    co_return co_await AnswerRequest(std::move(*received));
  if (auto* const refused = std::get_if<RequestReader::Refused>(&next)) {
    HttpProblem problem{.status = refused->refusal.status, .text = refused->refusal.text};
    co_return co_await SendProblem(std::move(problem), refused->is_head,
                                   !refused->refusal.must_close);
  }
  if (HasGone()) co_return After::kClose;
  if (parts_.is_stopping) co_return After::kLinger;
  if (!reader_.has_begun()) co_return After::kClose;
  HttpProblem problem{.status = 408, .text = "The request did not arrive in time."};
  co_return co_await SendProblem(std::move(problem), false, false);
}

awaitable<ConnectionImpl::After> ConnectionImpl::AnswerRequest(RequestReader::Received received) {
  received.request.peer = peer_;
  Reply reply{.terms = TermsOf(received.request),
              .keeps_alive = received.keeps_alive,
              .may_chunk = received.may_chunk};
  std::optional<HttpAnswer> answer = CheckAccess(received.request, parts_.options.access);
  if (!answer) answer = co_await AskFace(std::move(received.request));
  if (!answer) co_return After::kClose;
  reply.answer = *std::move(answer);
  co_return co_await SendReply(std::move(reply));
}

// nullopt: the client has left.
awaitable<std::optional<HttpAnswer>> ConnectionImpl::AskFace(HttpRequest request) {
  AwaitedAnswer awaited(parts_.gate, Notifier());
  Enter(Phase::kAsked, absl::InfiniteDuration());
  parts_.deps.face->Answer(std::move(request), awaited.MakeResponder());
  std::optional<HttpAnswer> answer = awaited.Take();
  while (!answer && !HasGone() && !parts_.is_stopping) {
    co_await changed_.Wait();
    answer = awaited.Take();
  }
  if (!answer && HasGone()) {
    ++parts_.deps.counters->left;
  } else if (!answer) {
    answer = MakeProblem(StoppingProblem());
  }
  co_return answer;
}

awaitable<ConnectionImpl::After> ConnectionImpl::SendProblem(HttpProblem problem, bool is_head,
                                                             bool keeps_alive) {
  Reply reply{.answer = MakeProblem(problem), .keeps_alive = keeps_alive};
  reply.terms.is_head = is_head;
  co_return co_await SendReply(std::move(reply));
}

awaitable<ConnectionImpl::After> ConnectionImpl::SendReply(Reply reply) {
  Enter(Phase::kSending, absl::InfiniteDuration());
  const uint64_t sent_before = sent_bytes_;
  HttpBody body = reply.answer.body;
  std::optional<CodedSize> coded;
  CounterShare share(parts_.deps.counters->coded_bytes);
  const http::ContentCoding wanted = WantedCoding(reply.terms, reply.answer);
  bool is_sent = true;
  if (wanted != http::ContentCoding::kIdentity &&
      share.Take(SizeOf(body), parts_.options.limits.coded_bytes_max)) {
    BodyWork work = CodingWork(body, wanted);
    absl::StatusOr<std::string> bytes = co_await AwaitPool(std::move(work));
    is_sent = bytes.ok();
    if (is_sent && !bytes->empty()) {
      coded = CodedSize{.coding = wanted, .size_bytes = bytes->size()};
      body = MakeBlob(*std::move(bytes));
    }
  }
  const bool closes = !reply.keeps_alive || parts_.is_stopping;
  if (is_sent) {
    const std::string boundary = reply.terms.range ? NewBoundary() : std::string();
    ResponsePlan plan = PlanResponse(reply.terms, reply.answer, coded, boundary);
    if (plan.is_stream) co_return co_await SendStream(std::move(reply), std::move(plan));
    std::string head = HeadText(plan, parts_.DateNow(), {.closes = closes});
    if (reply.terms.is_head) plan.parts.clear();
    uncounted_status_ = plan.status;
    is_sent = co_await SendParts(std::move(head), std::move(plan.parts), std::move(body));
  }
  if (is_sent) co_return closes ? After::kLinger : After::kGoOn;
  if (is_closed_ || sent_bytes_ != sent_before) co_return After::kClose;
  HttpProblem problem{.status = 500, .text = "The bytes of the answer cannot be read."};
  co_return co_await SendProblem(std::move(problem), reply.terms.is_head, reply.keeps_alive);
}

// Counts an answer when its first bytes leave: who has read an answer finds it counted.
void ConnectionImpl::CountAnswer() {
  if (uncounted_status_ == 0) return;
  ++parts_.deps.counters->answers[static_cast<size_t>(uncounted_status_ / 100 - 2)];
  uncounted_status_ = 0;
}

awaitable<ConnectionImpl::After> ConnectionImpl::SendStream(Reply reply, ResponsePlan plan) {
  const Framing framing{.is_chunked = reply.may_chunk,
                        .closes = !reply.keeps_alive || !reply.may_chunk || parts_.is_stopping};
  std::string head = HeadText(plan, parts_.DateNow(), framing);
  uncounted_status_ = plan.status;
  bool goes_on = co_await WriteText(std::move(head), false);
  auto stream = std::get<std::shared_ptr<HttpEventStream>>(std::move(reply.answer.body));
  if (goes_on && !reply.terms.is_head)
    goes_on = co_await SendEvents(std::move(stream), framing.is_chunked);
  if (!goes_on || HasGone()) co_return After::kClose;
  co_return framing.closes || parts_.is_stopping ? After::kLinger : After::kGoOn;
}

// False: the client has gone.
awaitable<bool> ConnectionImpl::SendEvents(std::shared_ptr<HttpEventStream> stream,
                                           bool is_chunked) {
  CounterShare streams(parts_.deps.counters->streams);
  streams.Take(1, UINT64_MAX);
  const auto is_woken = std::make_shared<std::atomic<bool>>(false);
  WakeBy(*stream, is_woken);
  const absl::Duration period = parts_.options.limits.comment_period;
  Enter(Phase::kStreaming, absl::InfiniteDuration());
  comment_due_ = since_ + period;
  while (!HasGone() && !parts_.is_stopping) {
    is_woken->store(false);
    std::optional<std::string> events = stream->TakeEvents(kEventBytes);
    if (!events) break;
    if (events->empty() && parts_.Monotonic() < comment_due_) {
      co_await changed_.Wait();
      continue;
    }
    if (events->empty()) *events = kComment;
    std::string bytes = is_chunked ? ChunkText(*events) : *std::move(events);
    comment_due_ = parts_.Monotonic() + period;
    const bool goes_on = co_await WriteText(std::move(bytes), false);
    if (!goes_on) co_return false;
    co_await asio::post(parts_.context, asio::use_awaitable);  // others have their turn
  }
  if (HasGone()) co_return false;
  std::string last = is_chunked ? ChunkText("") : "";
  co_return co_await WriteText(std::move(last), false);
}

// Wakes that come before the last one had its effect are dropped.
void ConnectionImpl::WakeBy(HttpEventStream& stream, std::shared_ptr<std::atomic<bool>> is_woken) {
  stream.SetWake([is_woken = std::move(is_woken), gate = parts_.gate, notify = Notifier()] {
    if (!is_woken->exchange(true)) gate->Post(notify);
  });
}

// False: the connection is closed, or nothing is sent because the bytes cannot be read.
awaitable<bool> ConnectionImpl::SendParts(std::string head, std::vector<BodyPart> parts,
                                          HttpBody body) {
  if (const auto* blob = std::get_if<Blob>(&body)) {
    std::vector<std::string_view> pieces = PiecesOf(head, parts, *blob);
    co_return co_await WriteAll(std::move(pieces), false);
  }
  const auto source = std::get<std::shared_ptr<HttpBlobSource>>(std::move(body));
  std::string pending = std::move(head);
  for (const BodyPart& part : parts) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      pending += *text;
      continue;
    }
    const auto& range = std::get<http::ByteRange>(part);
    const bool is_sent = co_await SendRange(std::move(pending), range, source);
    if (!is_sent) co_return false;
    pending.clear();
  }
  co_return co_await WriteText(std::move(pending), false);
}

// Sends `pending` and the range.
awaitable<bool> ConnectionImpl::SendRange(std::string pending, http::ByteRange range,
                                          std::shared_ptr<HttpBlobSource> source) {
  const uint64_t size = range.last - range.first + 1;
  std::optional<HttpBlobSource::File> file = source->file();
  if (file && transport_->can_send_file() && size >= kSendFileBytesMin) {
    const bool has_begun = co_await WriteText(std::move(pending), true);
    if (!has_begun) co_return false;
    file->offset += range.first;
    co_return co_await SendFile(*file, size);
  }
  for (uint64_t offset = range.first; offset <= range.last;) {
    const uint64_t wanted = std::min(kPieceBytes, range.last - offset + 1);
    BodyWork work = ReadingWork(source, offset, wanted);
    const absl::StatusOr<std::string> piece = co_await AwaitPool(std::move(work));
    if (!piece.ok()) {
      if (!is_closed_) LogWarning("http: peer={}: {}", peer_, MessageOf(piece.status()));
      co_return false;
    }
    std::vector<std::string_view> pieces(1, pending);
    pieces.emplace_back(*piece);
    offset += wanted;
    const bool is_sent = co_await WriteAll(std::move(pieces), offset <= range.last);
    if (!is_sent) co_return false;
    pending.clear();
  }
  co_return true;
}

awaitable<bool> ConnectionImpl::SendFile(HttpBlobSource::File file, uint64_t bytes) {
  uint64_t turn_bytes = 0;
  while (bytes > 0 && !is_closed_) {
    const IoResult result =
        transport_->SendFile(file.descriptor, file.offset, std::min(bytes, kTurnBytes));
    if (result.state != IoState::kDone) {
      const bool goes_on = co_await AwaitProgress(result.state);
      if (!goes_on) break;
      continue;
    }
    NoteSent(result.bytes);
    file.offset += result.bytes;
    bytes -= result.bytes;
    turn_bytes += result.bytes;
    if (turn_bytes < kTurnBytes) continue;
    turn_bytes = 0;
    co_await asio::post(parts_.context, asio::use_awaitable);
  }
  if (bytes > 0) Close();
  co_return bytes == 0;
}

void ConnectionImpl::CallPool(std::shared_ptr<PoolCall> call, BodyWork work) {
  parts_.deps.pool->Post(
      [call = std::move(call), work = std::move(work), gate = parts_.gate, notify = Notifier()] {
        call->result = work();
        gate->Post([call, notify] {
          call->is_done = true;
          notify();
        });
      });
}

awaitable<absl::StatusOr<std::string>> ConnectionImpl::AwaitPool(BodyWork work) {
  const auto call = std::make_shared<PoolCall>();
  CallPool(call, std::move(work));
  while (!call->is_done && !is_closed_) co_await changed_.Wait();
  if (!call->is_done) co_return absl::CancelledError("the connection was closed");
  co_return std::move(call->result);
}

awaitable<bool> ConnectionImpl::WriteText(std::string text, bool more_follows) {
  std::vector<std::string_view> pieces(1, text);
  co_return co_await WriteAll(std::move(pieces), more_follows);
}

// False: the connection is closed.
awaitable<bool> ConnectionImpl::WriteAll(std::vector<std::string_view> pieces, bool more_follows) {
  size_t first = 0;
  while (!is_closed_) {
    while (first < pieces.size() && pieces[first].empty()) ++first;
    if (first == pieces.size()) co_return true;
    CountAnswer();
    const IoResult result = transport_->Write(std::span(pieces).subspan(first), more_follows);
    if (result.state == IoState::kDone) {
      NoteSent(result.bytes);
      DropWritten(result.bytes, pieces, first);
      continue;
    }
    const bool goes_on = co_await AwaitProgress(result.state);
    if (!goes_on) break;
  }
  Close();
  co_return false;
}

void ConnectionImpl::NoteSent(size_t bytes) {
  sent_bytes_ += bytes;
  parts_.deps.counters->sent_bytes += bytes;
}

// Waits for the socket, as long as a client may take nothing.
awaitable<bool> ConnectionImpl::AwaitProgress(IoState state) {
  deadline_ = parts_.Monotonic() + parts_.options.limits.send_time;
  const bool goes_on = co_await AwaitSocket(state);
  deadline_ = absl::InfiniteFuture();
  co_return goes_on;
}

// False: the connection has ended.
awaitable<bool> ConnectionImpl::AwaitSocket(IoState state) {
  if (state == IoState::kEnded || is_closed_) co_return false;
  const auto wanted = state == IoState::kWantsRead ? Socket::wait_read : Socket::wait_write;
  SocketError error;
  co_await socket_.async_wait(wanted, asio::redirect_error(asio::use_awaitable, error));
  co_return !error && !is_closed_;
}

// A close with unread bytes would be a reset, which may overtake the answer.
awaitable<void> ConnectionImpl::Linger() {
  if (HasGone()) co_return;
  Enter(Phase::kLingering, parts_.options.limits.linger_time);
  transport_->Finish();
  room_.Notify();
  while (!HasGone()) co_await changed_.Wait();
}

}  // namespace

std::shared_ptr<Connection> Connection::Start(LoopParts& parts, FileDescriptor socket,
                                              std::unique_ptr<Transport> transport,
                                              std::string peer,
                                              std::function<void(std::exception_ptr)> on_end) {
  Socket watched(parts.context);
  SocketError error;
  watched.assign(socket.get(), error);
  if (error) return nullptr;
  static_cast<void>(socket.Release());  // `watched` owns it
  auto connection = std::make_shared<ConnectionImpl>(parts, std::move(watched),
                                                     std::move(transport), std::move(peer));
  // Not before the caller holds it: a coroutine may end where it is spawned.
  parts.gate->Post([connection, &parts, on_end = std::move(on_end)] {
    asio::co_spawn(parts.context, connection->Serve(), on_end);
  });
  return connection;
}

}  // namespace galley::director
