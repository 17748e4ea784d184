// The door over loopback, for clients that are slow, silent, or gone, and for those that read
// streams of events.
#include <atomic>
#include <memory>
#include <string>

#include "director/serve/http/http_door.h"
#include "director/serve/http/request_reader.h"
#include "director/serve/http/testing/http_door_fixture.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::HasSubstr;

class HttpDoorClientsTest : public HttpDoorFixture {};

// Clients that leave, wait, or are silent.

TEST_F(HttpDoorClientsTest, TheFaceIsToldWhenAClientLeaves) {
  Open();
  face_.KeepRequests();
  HttpClient client(port());
  client.Send(GetText("/a"));
  const HttpResponder responder = TakeKept();
  std::atomic<bool> has_left = false;
  responder.OnLeave([&] { has_left = true; });
  client.Close();
  AwaitOrFail([&] { return has_left.load(); }, "the news that the client left");
  AwaitOpen(0);
  EXPECT_EQ(door_->figures().left, 1u);
  responder.Answer(TextAnswer("too late"));
}

TEST_F(HttpDoorClientsTest, TheFaceIsToldAlsoBehindTls) {
  OpenWithTls();
  face_.KeepRequests();
  HttpClient client(port(), {.has_tls = true});
  client.Send(GetText("/a"));
  const HttpResponder responder = TakeKept();
  std::atomic<bool> has_left = false;
  responder.OnLeave([&] { has_left = true; });
  client.Close();
  AwaitOrFail([&] { return has_left.load(); }, "the news that the client left");
}

TEST_F(HttpDoorClientsTest, TheEndIsSeenBehindMoreRequestsThanThereIsRoomFor) {
  Open();
  face_.KeepRequests();
  HttpClient client(port());
  std::string requests;
  while (requests.size() < 4 * kInputBytesMax) requests += GetText("/a");
  client.Send(requests);
  const HttpResponder responder = TakeKept();
  std::atomic<bool> has_left = false;
  responder.OnLeave([&] { has_left = true; });
  client.FinishSending();
  AwaitOrFail(
      [&] {
        door_->Look();
        return has_left.load();
      },
      "the news that the client left");
}

TEST_F(HttpDoorClientsTest, AnAnswerThatIsAwaitedHasNoTimeOut) {
  Open();
  face_.KeepRequests();
  HttpClient client(port());
  client.Send(GetText("/a"));
  const HttpResponder responder = TakeKept();
  Advance(absl::Hours(1));
  responder.Answer(TextAnswer("at last"));
  EXPECT_EQ(client.Read().body, "at last");
}

TEST_F(HttpDoorClientsTest, ASlowRequestIs408) {
  Open();
  HttpClient client(port());
  AwaitOpen(1);
  client.Send("GET /a HTTP/1.1\r\nHo");
  // A byte now and then does not give more time.
  AwaitOrFail(
      [&] {
        client.Send("s");
        Advance(absl::Seconds(5));
        return door_->figures().timed_out == 1;
      },
      "the time-out");
  EXPECT_EQ(client.Read().status, 408);
  EXPECT_TRUE(client.IsAtEnd());
}

TEST_F(HttpDoorClientsTest, ASilentConnectionIsClosed) {
  Open();
  face_.SetAnswer(TextAnswer("hello"));
  HttpClient silent(port()), idle(port());
  EXPECT_EQ(idle.Get("/a").body, "hello");
  AwaitOpen(2);
  AwaitOrFail(
      [&] {
        Advance(absl::Seconds(21));
        EXPECT_EQ(idle.Get("/a").body, "hello");
        return door_->figures().open == 1;
      },
      "the end of the silent connection");
  EXPECT_TRUE(silent.IsAtEnd());
  AwaitOrFail(
      [&] {
        Advance(absl::Seconds(76));
        return door_->figures().open == 0;
      },
      "the end of the idle connection");
  EXPECT_TRUE(idle.IsAtEnd());
}

TEST_F(HttpDoorClientsTest, ASilentHandshakeIsEnded) {
  OpenWithTls();
  HttpClient silent(port(), {.has_tls = true, .handshakes = false});
  AwaitOpen(1);
  AwaitOrFail(
      [&] {
        Advance(absl::Seconds(21));
        return door_->figures().open == 0;
      },
      "the end of the handshake");
  EXPECT_TRUE(silent.IsAtEnd());
}

TEST_F(HttpDoorClientsTest, AnIdleConnectionMakesRoomForAnother) {
  Open({.limits = {.connections_max = 2}, .threads = 1});
  face_.KeepRequests();
  HttpClient first(port()), second(port());
  first.Send(GetText("/a"));
  const HttpResponder responder = TakeKept();
  AwaitOpen(2);
  HttpClient third(port());
  third.Send(GetText("/b"));
  TakeKept().Answer(TextAnswer("room"));
  EXPECT_EQ(third.Read().body, "room");
  EXPECT_TRUE(second.IsAtEnd());
  EXPECT_EQ(door_->figures().made_room, 1u);
  responder.Answer(TextAnswer("still here"));
  EXPECT_EQ(first.Read().body, "still here");
}

TEST_F(HttpDoorClientsTest, SilentHandshakesMakeRoomForOthers) {
  OpenWithTls({.limits = {.connections_max = 2}, .threads = 1});
  face_.SetAnswer(TextAnswer("room"));
  HttpClient one(port(), {.has_tls = true, .handshakes = false});
  HttpClient two(port(), {.has_tls = true, .handshakes = false});
  AwaitOpen(2);
  HttpClient client(port(), {.has_tls = true});
  EXPECT_EQ(client.Get("/a").body, "room");
  EXPECT_EQ(door_->figures().made_room, 1u);
  EXPECT_EQ(door_->figures().refused, 0u);
}

TEST_F(HttpDoorClientsTest, WithoutRoomAConnectionIsRefused) {
  Open({.limits = {.connections_max = 1}, .threads = 1});
  face_.KeepRequests();
  HttpClient first(port());
  first.Send(GetText("/a"));
  const HttpResponder responder = TakeKept();
  HttpClient second(port());
  const HttpResponse response = second.Read();
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.ValueOf("retry-after"), std::nullopt);
  EXPECT_TRUE(second.IsAtEnd());
  EXPECT_EQ(door_->figures().refused, 1u);
  responder.Answer(TextAnswer("served"));
  EXPECT_EQ(first.Read().body, "served");
}

// Streams.

TEST_F(HttpDoorClientsTest, EventsArriveWhenTheyHappen) {
  Open();
  const auto stream = std::make_shared<FakeStream>();
  face_.SetAnswer(
      {.content_type = "text/event-stream", .body = std::shared_ptr<HttpEventStream>(stream)});
  HttpClient client(port());
  client.Send(GetText("/changes"));
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nX-Accel-Buffering: no\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nCache-Control: no-store\r\n"));
  for (const std::string event : {"data: 1\n\n", "data: 2\n\n"}) {
    stream->Push(event);
    EXPECT_EQ(client.ReadUntil(event + "\r\n"), "9\r\n" + event + "\r\n");
  }
  stream->End();
  EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
  face_.SetAnswer(TextAnswer("the connection goes on"));
  EXPECT_EQ(client.Get("/a").body, "the connection goes on");
}

TEST_F(HttpDoorClientsTest, AStreamWithoutEventsHasAComment) {
  Open();
  const auto stream = std::make_shared<FakeStream>();
  face_.SetAnswer(
      {.content_type = "text/event-stream", .body = std::shared_ptr<HttpEventStream>(stream)});
  HttpClient client(port());
  client.Send(GetText("/changes"));
  client.ReadUntil("\r\n\r\n");
  AwaitOrFail([&] { return stream->has_begun(); }, "the stream");
  Advance(absl::Seconds(14));
  stream->Push("data: 1\n\n");
  EXPECT_EQ(client.ReadUntil("\n\n\r\n"), "9\r\ndata: 1\n\n\r\n");
  Advance(absl::Seconds(14));
  Advance(absl::Seconds(1));
  EXPECT_EQ(client.ReadUntil("\n\n\r\n"), "3\r\n:\n\n\r\n");
}

TEST_F(HttpDoorClientsTest, AClientOfHttp10GetsEventsWithoutChunks) {
  Open();
  const auto stream = std::make_shared<FakeStream>();
  face_.SetAnswer(
      {.content_type = "text/event-stream", .body = std::shared_ptr<HttpEventStream>(stream)});
  HttpClient client(port());
  client.Send("GET /changes HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("\r\nConnection: close\r\n"));
  stream->Push("data: 1\n\n");
  EXPECT_EQ(client.ReadUntil("\n\n"), "data: 1\n\n");
  stream->End();
  EXPECT_TRUE(client.IsAtEnd());
}

TEST_F(HttpDoorClientsTest, AStreamEndsWithItsClient) {
  Open();
  std::atomic<bool> has_ended = false;
  face_.SetHandler([&](const HttpRequest&, const HttpResponder& responder) {
    responder.Answer({.content_type = "text/event-stream",
                      .body = std::shared_ptr<HttpEventStream>(
                          std::make_shared<FakeStream>([&] { has_ended = true; }))});
  });
  HttpClient client(port());
  client.Send(GetText("/changes"));
  client.ReadUntil("\r\n\r\n");
  AwaitOrFail([&] { return door_->figures().streams == 1; }, "the stream");
  client.Close();
  AwaitOrFail([&] { return has_ended.load(); }, "the end of the stream");
  AwaitOpen(0);
  EXPECT_EQ(door_->figures().streams, 0u);
}

TEST_F(HttpDoorClientsTest, ASlowReaderOfEventsIsNotAskedToTakeMore) {
  Open();
  const auto stream = std::make_shared<FakeStream>();
  face_.SetAnswer(
      {.content_type = "text/event-stream", .body = std::shared_ptr<HttpEventStream>(stream)});
  HttpClient client(port());
  client.Send(GetText("/changes"));
  client.ReadUntil("\r\n\r\n");
  const std::string event = "data: " + std::string(60'000, 'x') + "\n\n";
  // The kernel takes some megabytes; then the stream is left alone, whatever is pushed.
  AwaitOrFail(
      [&] {
        const int before = stream->takes();
        stream->Push(event);
        door_->Look();
        door_->Look();  // what the first one found is done now
        return stream->takes() == before;
      },
      "a stream that is not asked");
  stream->Push(event);
  stream->End();
  const std::string rest = client.ReadUntil("0\r\n\r\n");
  EXPECT_THAT(rest.substr(rest.size() - 40), HasSubstr("data: behind\n\n"));
}

TEST_F(HttpDoorClientsTest, WakesAfterTheEndAreHarmless) {
  Open({.limits = {.stop_time = absl::Milliseconds(10)}});
  const auto stream = std::make_shared<FakeStream>();
  face_.SetAnswer(
      {.content_type = "text/event-stream", .body = std::shared_ptr<HttpEventStream>(stream)});
  HttpClient client(port());
  client.Send(GetText("/changes"));
  client.ReadUntil("\r\n\r\n");
  AwaitOrFail([&] { return stream->has_begun(); }, "the stream");
  door_.reset();
  stream->Push("data: 1\n\n");
}

}  // namespace
}  // namespace galley::director
