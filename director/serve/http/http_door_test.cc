// The door over loopback: what it sends for the answers of a face, and how it ends.
#include "director/serve/http/http_door.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "common/base/zstd_stream.h"
#include "director/serve/http/http_problem.h"
#include "director/serve/http/testing/gunzip.h"
#include "director/serve/http/testing/http_door_fixture.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// LastingSource: a read that ends only after its connection.
class LastingSource final : public HttpBlobSource {
 public:
  explicit LastingSource(const HttpDoor& door) : door_(door) {}
  uint64_t size_bytes() const override { return 1; }
  absl::Status ReadAt(uint64_t, std::span<char> into) override {
    has_begun = true;
    AwaitOrFail([&] { return door_.figures().open == 0; }, "the end of the connection");
    into[0] = 'x';
    has_ended = true;
    return absl::OkStatus();
  }

  std::atomic<bool> has_begun = false;
  std::atomic<bool> has_ended = false;

 private:
  const HttpDoor& door_;
};

class HttpDoorTest : public HttpDoorFixture {
 protected:
  static HttpAnswer FileAnswer(HttpBody body) {
    return {.content_type = "image/ktx2",
            .caching = HttpCaching::kImmutable,
            .tag = http::EntityTag{.opaque = "5e1f"},
            .is_codable = true,
            .body = std::move(body)};
  }
  static std::string Lines(size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += "line " + std::to_string(text.size()) + "\n";
    return text;
  }
};

// Answers.

TEST_F(HttpDoorTest, AnswersWithTheBytesOfTheFace) {
  Open();
  face_.SetAnswer(FileAnswer(MakeBlob("hello")));
  HttpClient client(port());
  const HttpResponse response = client.Get("/v1/linux/Game/a.png");
  EXPECT_EQ(response.head,
            "HTTP/1.1 200 OK\r\n"
            "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
            "Cache-Control: public, max-age=31536000, immutable\r\n"
            "ETag: \"5e1f\"\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Content-Type: image/ktx2\r\n"
            "Content-Length: 5\r\n\r\n");
  EXPECT_EQ(response.body, "hello");
  EXPECT_THAT(face_.paths(), ElementsAre("/v1/linux/Game/a.png"));
}

TEST_F(HttpDoorTest, HeadHasTheFieldsOfGetAndNoBody) {
  Open();
  face_.SetAnswer(FileAnswer(MakeBlob(Lines(10'000))));
  HttpClient client(port());
  for (const char* fields : {"", "Accept-Encoding: zstd\r\n", "If-None-Match: \"5e1f\"\r\n"}) {
    const HttpResponse get = client.Get("/a", fields);
    client.Send("HEAD" + GetText("/a", fields).substr(3));
    EXPECT_EQ(client.Read(/*has_body=*/false).head, get.head);
  }
}

TEST_F(HttpDoorTest, RequestsThatComeTogetherAreAnsweredInOrder) {
  Open();
  face_.KeepRequests();
  HttpClient client(port());
  client.Send(GetText("/a") + GetText("/b") + GetText("/c"));
  for (const char* text : {"first", "second", "third"}) {
    TakeKept().Answer(TextAnswer(text));
    EXPECT_EQ(client.Read().body, text);
  }
  EXPECT_THAT(face_.paths(), ElementsAre("/a", "/b", "/c"));
}

TEST_F(HttpDoorTest, AThousandRequestsOnOneConnectionAreAnswered) {
  Open();
  face_.SetAnswer(TextAnswer("hello"));
  HttpClient client(port());
  std::string requests;
  for (int i = 0; i < 1'000; ++i) requests += GetText("/a");
  std::thread sender([&] { client.Send(requests); });
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(client.Read().body, "hello");
  sender.join();
}

TEST_F(HttpDoorTest, TheFaceGetsTheBodyOfAPost) {
  Open();
  face_.SetHandler([](HttpRequest request, const HttpResponder& responder) {
    responder.Answer({.status = 201,
                      .content_type = "text/plain",
                      .fields = {{"Location", "/v1/sessions/7"}},
                      .body = MakeBlob(request.peer + " " + request.body)});
  });
  HttpClient client(port());
  const std::string body(60'000, 'x');
  client.Send("POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n" +
              body);
  const HttpResponse response = client.Read();
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.ValueOf("location"), "/v1/sessions/7");
  EXPECT_TRUE(response.body == "127.0.0.1 " + body);
}

TEST_F(HttpDoorTest, TheConnectionEndsWhenTheClientWantsThat) {
  Open();
  face_.SetAnswer(TextAnswer("hello"));
  for (const std::string request :
       {"GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /a HTTP/1.0\r\nHost: localhost\r\n\r\n"}) {
    HttpClient client(port());
    client.Send(request);
    const HttpResponse response = client.Read();
    EXPECT_EQ(response.body, "hello");
    EXPECT_EQ(response.ValueOf("connection"), "close");
    EXPECT_TRUE(client.IsAtEnd());
  }
}

TEST_F(HttpDoorTest, ARequestThatTheFaceDropsIs500) {
  Open();
  face_.SetHandler([](const HttpRequest&, const HttpResponder&) {});
  HttpClient client(port());
  EXPECT_EQ(client.Get("/a").status, 500);
}

TEST_F(HttpDoorTest, ProblemsOfTheFaceAreSentAsTheyAre) {
  Open();
  face_.SetAnswer(MakeProblem({.status = 503,
                               .text = "Workers start.",
                               .members = {{"root", "ab/12"}},
                               .retry_after = absl::Seconds(3)}));
  HttpClient client(port());
  const HttpResponse response = client.Get("/a", "If-None-Match: *\r\nRange: bytes=0-4\r\n");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.ValueOf("retry-after"), "3");
  EXPECT_EQ(response.ValueOf("cache-control"), "no-store");
  EXPECT_THAT(response.body, HasSubstr("\"root\":\"ab/12\""));
}

// Conditions, ranges, codings.

TEST_F(HttpDoorTest, AKnownTagIsNotSentAgain) {
  Open();
  face_.SetAnswer(FileAnswer(MakeBlob("hello")));
  HttpClient client(port());
  const HttpResponse response = client.Get("/a", "If-None-Match: \"5e1f\"\r\n");
  EXPECT_EQ(response.status, 304);
  EXPECT_EQ(response.ValueOf("content-length"), std::nullopt);
  EXPECT_EQ(response.ValueOf("etag"), "\"5e1f\"");
  EXPECT_NE(response.ValueOf("date"), std::nullopt);
  EXPECT_EQ(client.Get("/a", "If-Match: \"0\"\r\n").status, 412);
  EXPECT_EQ(client.Get("/a").body, "hello");
}

TEST_F(HttpDoorTest, RangesAreSentOfEachKindOfBody) {
  Open();
  const std::string body = LargeBody(300'000);
  const std::shared_ptr<HttpBlobSource> read = std::make_shared<FakeSource>(body);
  const std::shared_ptr<HttpBlobSource> file = std::make_shared<FakeFileSource>(body, 777);
  HttpClient client(port());
  for (const HttpBody& source : {HttpBody(MakeBlob(body)), HttpBody(read), HttpBody(file)}) {
    face_.SetAnswer(FileAnswer(source));
    const HttpResponse one = client.Get("/a", "Range: bytes=100000-299999\r\n");
    EXPECT_EQ(one.status, 206);
    EXPECT_EQ(one.ValueOf("content-range"), "bytes 100000-299999/300000");
    EXPECT_TRUE(one.body == body.substr(100'000));
    const HttpResponse two = client.Get("/a", "Range: bytes=0-4,200000-\r\n");
    EXPECT_EQ(two.status, 206);
    const std::string type = two.ValueOf("content-type").value_or("");
    ASSERT_THAT(type, StartsWith("multipart/byteranges; boundary="));
    const std::string line = "--" + type.substr(type.find('=') + 1);
    const std::string part = "\r\nContent-Type: image/ktx2\r\nContent-Range: bytes ";
    EXPECT_TRUE(two.body == line + part + "0-4/300000\r\n\r\n" + body.substr(0, 5) + "\r\n" + line +
                                part + "200000-299999/300000\r\n\r\n" + body.substr(200'000) +
                                "\r\n" + line + "--\r\n");
    EXPECT_EQ(client.Get("/a", "Range: bytes=300000-\r\n").status, 416);
  }
}

TEST_F(HttpDoorTest, BoundariesAreNeverTheSame) {
  Open();
  face_.SetAnswer(FileAnswer(MakeBlob("hello")));
  HttpClient client(port());
  const std::string fields = "Range: bytes=0-0,2-2\r\n";
  EXPECT_NE(client.Get("/a", fields).ValueOf("content-type"),
            client.Get("/a", fields).ValueOf("content-type"));
}

TEST_F(HttpDoorTest, ABodyIsCodedForWhoAcceptsIt) {
  Open();
  const std::string text = Lines(200'000);
  HttpClient client(port());
  const std::shared_ptr<HttpBlobSource> read = std::make_shared<FakeSource>(text);
  for (const HttpBody& body : {HttpBody(MakeBlob(text)), HttpBody(read)}) {
    face_.SetAnswer(FileAnswer(body));
    const HttpResponse zstd = client.Get("/a", "Accept-Encoding: gzip, zstd\r\n");
    EXPECT_EQ(zstd.ValueOf("content-encoding"), "zstd");
    EXPECT_EQ(zstd.ValueOf("etag"), "W/\"5e1f-zstd\"");
    EXPECT_EQ(zstd.ValueOf("vary"), "Accept-Encoding");
    const auto decoded = ZstdDecompress(zstd.body, text.size());
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_TRUE(*decoded == text);
    const HttpResponse gzip = client.Get("/a", "Accept-Encoding: gzip\r\n");
    EXPECT_EQ(gzip.ValueOf("content-encoding"), "gzip");
    EXPECT_TRUE(Gunzip(gzip.body, text.size()) == text);
    EXPECT_TRUE(client.Get("/a").body == text);
  }
}

TEST_F(HttpDoorTest, ACodingThatSavesNothingIsNotSent) {
  Open();
  std::string noise(5'000, '\0');
  uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  face_.SetAnswer(FileAnswer(MakeBlob(noise)));
  HttpClient client(port());
  const HttpResponse response = client.Get("/a", "Accept-Encoding: zstd\r\n");
  EXPECT_EQ(response.ValueOf("content-encoding"), std::nullopt);
  EXPECT_EQ(response.ValueOf("etag"), "\"5e1f\"");
  EXPECT_EQ(response.ValueOf("vary"), "Accept-Encoding");
  EXPECT_TRUE(response.body == noise);
}

TEST_F(HttpDoorTest, NothingIsCodedBeyondTheLimit) {
  Open({.limits = {.coded_bytes_max = 1'000}});
  face_.SetAnswer(FileAnswer(MakeBlob(Lines(2'000))));
  HttpClient client(port());
  EXPECT_EQ(client.Get("/a", "Accept-Encoding: zstd\r\n").ValueOf("content-encoding"),
            std::nullopt);
  face_.SetAnswer(FileAnswer(MakeBlob(Lines(900))));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.Get("/a", "Accept-Encoding: zstd\r\n").ValueOf("content-encoding"), "zstd");
  }
}

// Bodies that are not in memory.

TEST_F(HttpDoorTest, TheWaysToSendABodyComeToTheSameBytes) {
  const std::string body = LargeBody(5'000'000);
  const auto read = std::make_shared<FakeSource>(body);
  const auto file = std::make_shared<FakeFileSource>(body, 4'097);
  for (const bool has_tls : {false, true}) {
    has_tls ? OpenWithTls() : Open();
    HttpClient client(port(), {.has_tls = has_tls});
    for (const HttpBody& source :
         {HttpBody(MakeBlob(body)), HttpBody(std::shared_ptr<HttpBlobSource>(read)),
          HttpBody(std::shared_ptr<HttpBlobSource>(file))}) {
      face_.SetAnswer(FileAnswer(source));
      const HttpResponse response = client.Get("/a");
      EXPECT_TRUE(response.is_whole);
      EXPECT_TRUE(response.body == body);
    }
    // A file is read only where TLS needs its bytes.
    EXPECT_EQ(file->reads() > 0, has_tls);
  }
}

TEST_F(HttpDoorTest, ABodyThatCannotBeReadIs500) {
  Open();
  const auto source = std::make_shared<FakeSource>(LargeBody(1'000'000));
  source->BreakAt(0);
  face_.SetAnswer(FileAnswer(std::shared_ptr<HttpBlobSource>(source)));
  HttpClient client(port());
  EXPECT_EQ(client.Get("/a").status, 500);
  EXPECT_EQ(client.Get("/a", "Accept-Encoding: zstd\r\n").status, 500);
}

TEST_F(HttpDoorTest, ABodyThatBreaksLaterIsCutOff) {
  Open();
  const auto source = std::make_shared<FakeSource>(LargeBody(1'000'000));
  source->BreakAt(500'000);
  face_.SetAnswer(FileAnswer(std::shared_ptr<HttpBlobSource>(source)));
  HttpClient client(port());
  const HttpResponse response = client.Get("/a");
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.is_whole);
  EXPECT_TRUE(client.IsAtEnd());
}

TEST_F(HttpDoorTest, ASlowReaderHoldsOneBuffer) {
  Open();
  constexpr int kBytes = 64 << 20;
  const auto source = std::make_shared<FakeSource>(std::string(kBytes, 'x'));
  face_.SetAnswer(FileAnswer(std::shared_ptr<HttpBlobSource>(source)));
  HttpClient client(port());
  client.Send(GetText("/a"));
  EXPECT_EQ(client.ReadUntil("\r\n\r\n").substr(9, 3), "200");
  // The time is up while the door waits for the client, however far it came.
  AwaitOrFail(
      [&] {
        Advance(absl::Minutes(2));
        return door_->figures().open == 0;
      },
      "the end of the slow connection");
  EXPECT_EQ(door_->figures().timed_out, 1u);
  EXPECT_LT(source->reads(), kBytes / (128 << 10) / 2);
}

// The end of the door.

TEST_F(HttpDoorTest, StopAnswersWhoWaitsAndEndsStreams) {
  Open();
  const auto stream = std::make_shared<FakeStream>();
  face_.SetAnswer(
      {.content_type = "text/event-stream", .body = std::shared_ptr<HttpEventStream>(stream)});
  HttpClient watcher(port()), waiter(port()), idle(port());
  watcher.Send(GetText("/changes"));
  watcher.ReadUntil("\r\n\r\n");
  AwaitOrFail([&] { return stream->has_begun(); }, "the stream");
  face_.KeepRequests();
  waiter.Send(GetText("/a"));
  const HttpResponder responder = TakeKept();
  std::atomic<bool> has_left = false;
  responder.OnLeave([&] { has_left = true; });
  std::thread stop([&] { door_->Stop(); });
  EXPECT_EQ(watcher.ReadUntil("\r\n\r\n"), "0\r\n\r\n");
  const HttpResponse response = waiter.Read();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.ValueOf("connection"), "close");
  EXPECT_NE(response.ValueOf("retry-after"), std::nullopt);
  for (HttpClient* client : {&watcher, &waiter, &idle}) {
    EXPECT_TRUE(client->IsAtEnd());
    client->Close();
  }
  stop.join();
  EXPECT_TRUE(has_left);
  EXPECT_EQ(door_->figures().open, 0u);
  responder.Answer(TextAnswer("too late"));
}

TEST_F(HttpDoorTest, StopLetsAnAnswerThatIsBeingSentGoOn) {
  Open({.limits = {.stop_time = kWaitMax}});
  const auto source = std::make_shared<FakeSource>(LargeBody(20'000'000));
  face_.SetAnswer(FileAnswer(std::shared_ptr<HttpBlobSource>(source)));
  HttpClient client(port());
  client.Send(GetText("/a"));
  AwaitOrFail([&] { return source->reads() > 0; }, "a read");
  std::thread stop([&] { door_->Stop(); });
  EXPECT_TRUE(client.Read().is_whole);
  EXPECT_TRUE(client.IsAtEnd());
  client.Close();
  stop.join();
}

TEST_F(HttpDoorTest, StopWaitsOnlySoLongForASlowReader) {
  Open({.limits = {.stop_time = absl::Milliseconds(10)}});
  const auto source = std::make_shared<FakeSource>(std::string(64 << 20, 'x'));
  face_.SetAnswer(FileAnswer(std::shared_ptr<HttpBlobSource>(source)));
  HttpClient client(port());
  client.Send(GetText("/a"));
  AwaitOrFail([&] { return source->reads() > 0; }, "a read");
  door_->Stop();
  EXPECT_EQ(door_->figures().open, 0u);
}

TEST_F(HttpDoorTest, StopWaitsForTheReadOfABody) {
  Open({.limits = {.stop_time = absl::Milliseconds(10)}});
  const auto source = std::make_shared<LastingSource>(*door_);
  face_.SetAnswer(FileAnswer(std::shared_ptr<HttpBlobSource>(source)));
  HttpClient client(port());
  client.Send(GetText("/a"));
  AwaitOrFail([&] { return source->has_begun.load(); }, "a read");
  door_->Stop();
  EXPECT_TRUE(source->has_ended);
}

// TLS.

TEST_F(HttpDoorTest, AnotherCertificateIsForNewConnections) {
  OpenWithTls();
  face_.SetAnswer(TextAnswer("hello"));
  HttpClient before(port(), {.has_tls = true});
  EXPECT_EQ(before.Get("/a").body, "hello");
  WriteCertificate();
  door_->LookAtCertificates();
  HttpClient after(port(), {.has_tls = true});
  EXPECT_EQ(after.Get("/a").body, "hello");
  EXPECT_EQ(before.Get("/a").body, "hello");
  EXPECT_NE(before.Certificate(), after.Certificate());
}

TEST_F(HttpDoorTest, RequestsBehindTlsAreAnsweredInOrder) {
  OpenWithTls();
  face_.SetHandler([](const HttpRequest& request, const HttpResponder& responder) {
    responder.Answer(TextAnswer(request.target.segments[0]));
  });
  HttpClient client(port(), {.has_tls = true});
  client.Send(GetText("/a") + GetText("/b"));
  EXPECT_EQ(client.Read().body, "a");
  EXPECT_EQ(client.Read().body, "b");
}

TEST_F(HttpDoorTest, AClientWithoutTlsIsTurnedAway) {
  OpenWithTls();
  HttpClient client(port());
  client.Send(GetText("/a"));
  EXPECT_EQ(client.Read().status, 0);
}

// Figures.

TEST_F(HttpDoorTest, AnswersAreCountedByTheirClass) {
  Open();
  face_.SetAnswer(FileAnswer(MakeBlob("hello")));
  HttpClient client(port());
  client.Get("/a");
  client.Get("/a", "If-None-Match: *\r\n");
  client.Get("/..");
  face_.SetAnswer(MakeProblem({.status = 500, .text = "No."}));
  client.Get("/a");
  // A client that has read an answer finds it counted.
  const HttpDoorFigures figures = door_->figures();
  EXPECT_THAT(figures.answers, ElementsAre(1u, 1u, 1u, 1u));
  EXPECT_EQ(figures.accepted, 1u);
  EXPECT_EQ(figures.open, 1u);
  EXPECT_GT(figures.sent_bytes, 400u);
}

}  // namespace
}  // namespace galley::director
