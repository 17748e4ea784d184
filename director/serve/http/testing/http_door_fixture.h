// HttpDoorFixture: a door over loopback with a FakeFace, whose clock the test moves.
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/testing/await.h"
#include "common/base/testing/manual_clock.h"
#include "common/wire/testing/self_signed.h"
#include "director/serve/http/http_door.h"
#include "director/serve/http/testing/fake_face.h"
#include "director/serve/http/testing/http_client.h"
#include "gtest/gtest.h"

namespace galley::director {

class HttpDoorFixture : public testing::Test {
 protected:
  // Opens the door; on a port of its own, unless the options say another address.
  void Open(HttpDoor::Options options = {}) {
    if (options.address.empty()) options.address = "127.0.0.1:0";
    auto door = HttpDoor::Open(std::move(options), face_, clock_);
    ASSERT_TRUE(door.ok()) << door.status();
    door_ = *std::move(door);
  }
  // Opens the door with a certificate of its own.
  void OpenWithTls(HttpDoor::Options options = {}) {
    WriteCertificate();
    options.tls = {.certificate = CertificateFile(), .key = KeyFile()};
    Open(std::move(options));
  }
  // Writes another certificate and its key.
  void WriteCertificate() {
    if (folder_.empty()) folder_ = *MakeTemporaryDirectory(testing::TempDir(), "http_door");
    const wire::SelfSigned made = wire::MakeSelfSigned("DNS:localhost,IP:127.0.0.1");
    ASSERT_TRUE(WriteFileAtomic(CertificateFile(), made.certificate).ok());
    ASSERT_TRUE(WriteFileAtomic(KeyFile(), made.key).ok());
  }
  ~HttpDoorFixture() override {
    if (!folder_.empty()) static_cast<void>(RemoveAll(folder_));
  }

  std::string CertificateFile() const { return folder_ + "/door.pem"; }
  std::string KeyFile() const { return folder_ + "/door.key"; }
  uint16_t port() const {
    const std::string& address = door_->address();
    uint16_t port = 0;
    std::from_chars(address.data() + address.rfind(':') + 1, address.data() + address.size(), port);
    return port;
  }

  // Moves the clock, and has the door see it.
  void Advance(absl::Duration time) {
    clock_.Advance(time);
    door_->Look();
  }
  // Waits for the next request that the face keeps.
  HttpResponder TakeKept() {
    std::optional<HttpResponder> kept;
    AwaitOrFail(
        [&] {
          kept = face_.TakeKept();
          return kept.has_value();
        },
        "a request that the face keeps");
    return *std::move(kept);
  }
  void AwaitOpen(uint64_t connections) {
    AwaitOrFail([&] { return door_->figures().open == connections; }, "connections");
  }

  static HttpAnswer TextAnswer(std::string text) {
    return {.content_type = "text/plain", .body = MakeBlob(std::move(text))};
  }
  // Bytes in which no piece is like another one.
  static std::string LargeBody(size_t bytes) {
    std::string body(bytes, '\0');
    for (size_t i = 0; i < bytes; ++i) body[i] = static_cast<char>(i ^ (i >> 8) ^ (i >> 16));
    return body;
  }

  ManualClock clock_;
  FakeFace face_;
  std::unique_ptr<HttpDoor> door_;

 private:
  std::string folder_;
};

}  // namespace galley::director
