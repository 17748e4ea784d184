#include "common/vfs/sockets.h"

#include <string>

#include "common/vfs/testing/loopback_peer.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

constexpr int kLongMs = 60'000;  // far from what anything here takes

class SocketsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(peer_.is_ready()); }
  void TearDown() override {
    if (connection_ != nullptr) net_.close(net_.context, connection_);
  }
  bool Connect() {
    connection_ =
        net_.connect(net_.context, "127.0.0.1", peer_.port(), kLongMs, text_, sizeof text_);
    return connection_ != nullptr && peer_.Accept();
  }
  ptrdiff_t Send(const std::string& bytes, int timeout_ms = kLongMs) {
    return net_.send(net_.context, connection_, bytes.data(), bytes.size(), timeout_ms);
  }
  // The bytes of one call; its result is in got_.
  std::string Receive(int timeout_ms = kLongMs) {
    char buffer[64];
    got_ = net_.receive(net_.context, connection_, buffer, sizeof buffer, timeout_ms);
    return got_ > 0 ? std::string(buffer, static_cast<size_t>(got_)) : "";
  }

  const galley_vfs_net net_ = PlainNet();
  LoopbackPeer peer_;
  void* connection_ = nullptr;
  char text_[200] = "";
  ptrdiff_t got_ = 0;
};

TEST_F(SocketsTest, BytesGoBothWaysUntilTheEnd) {
  ASSERT_TRUE(Connect()) << text_;
  EXPECT_EQ(Send("hello"), 5);
  EXPECT_EQ(peer_.Receive(5), "hello");
  EXPECT_TRUE(peer_.Send("world"));
  EXPECT_EQ(Receive(), "world");
  peer_.Close();
  Receive();
  EXPECT_EQ(got_, 0);
}

TEST_F(SocketsTest, SilenceIsNoEnd) {
  ASSERT_TRUE(Connect()) << text_;
  Receive(0);
  EXPECT_EQ(got_, -1);
  Receive(1);
  EXPECT_EQ(got_, -1);
  EXPECT_TRUE(peer_.Send("later"));
  EXPECT_EQ(Receive(), "later");
}

TEST_F(SocketsTest, APeerThatReadsNothingHoldsUpNobody) {
  ASSERT_TRUE(Connect()) << text_;
  const std::string large(1 << 20, 'x');
  ptrdiff_t sent = 1;
  for (int i = 0; i < 1'000 && sent > 0; ++i) sent = Send(large, 1);
  EXPECT_EQ(sent, -1);
}

// Also the second time, and without a signal.
TEST_F(SocketsTest, ABrokenConnectionIsTold) {
  ASSERT_TRUE(Connect()) << text_;
  peer_.Break();
  Receive();
  EXPECT_TRUE(got_ == -2 || got_ == 0) << got_ << "; Wine takes it for the end";
  EXPECT_EQ(Send("hello"), -2);
  EXPECT_EQ(Send("hello"), -2);
}

TEST_F(SocketsTest, WhereNobodyListensTheSystemSaysSo) {
  peer_.StopListening();
  EXPECT_FALSE(Connect());
  EXPECT_NE(std::string(text_), "");
}

TEST_F(SocketsTest, AnAddressThatIsNoneIsNamed) {
  connection_ = net_.connect(net_.context, "not an address", 1, kLongMs, text_, sizeof text_);
  EXPECT_EQ(connection_, nullptr);
  EXPECT_NE(std::string(text_), "");
}

}  // namespace
}  // namespace galley::vfs
