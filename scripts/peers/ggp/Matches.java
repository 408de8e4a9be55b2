import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ggp.base.player.GamePlayer;
import org.ggp.base.player.gamer.Gamer;
import org.ggp.base.server.GameServer;
import org.ggp.base.server.event.ServerConnectionErrorEvent;
import org.ggp.base.server.event.ServerIllegalMoveEvent;
import org.ggp.base.server.event.ServerTimeoutEvent;
import org.ggp.base.util.game.Game;
import org.ggp.base.util.gdl.grammar.GdlPool;
import org.ggp.base.util.logging.GamerLogger;
import org.ggp.base.util.match.Match;
import org.ggp.base.util.observer.Event;
import org.ggp.base.util.observer.Observer;
import org.ggp.base.util.statemachine.Role;

/**
 * Matches of one player against others under ggp-base's game manager, the player in each seat in turn.
 *
 * The manager reaches every player through a relay, which times the answers and reads what the manager does not look at.
 */
public final class Matches {
    private static final String USAGE =
        "usage: Matches RULES MATCHES START-CLOCK PLAY-CLOCK plain|scrambled TRANSCRIPT|- PLAYER OPPONENT…\n"
            + "  a player is HOST:PORT or a class of ggp-base's gamers";
    private static final String[] PACKAGES = {
        "org.ggp.base.player.gamer.statemachine.random.", "org.ggp.base.player.gamer.statemachine.sample."
    };

    public static void main(String[] args) throws Exception {
        if (args.length < 8) {
            System.err.println(USAGE);
            System.exit(2);
        }
        // A thread of the manager that dies leaves a random move behind and no trace: such matches count for nothing.
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            System.exit(2);
        });
        // Errors of the gamers are counted where the manager sees them.
        GamerLogger.setSuppressLoggerOutput(true);
        Game game = Game.createEphemeralGame(Game.preprocessRulesheet(read(args[0])));
        List<Role> roles = Role.computeRoles(game.getRules());
        List<Integer> seats = new ArrayList<>();
        for (int role = 0; role < roles.size(); role++) {
            if (roles.get(role).getName() != GdlPool.RANDOM) {
                seats.add(role);
            }
        }
        int matches = Integer.parseInt(args[1]);
        int start = Integer.parseInt(args[2]);
        int play = Integer.parseInt(args[3]);
        boolean scrambled = args[4].equals("scrambled");
        OutputStream transcript = args[5].equals("-") ? null : new FileOutputStream(args[5], true);
        List<Relay> relays = new ArrayList<>();
        relays.add(new Relay(address(args[6], 0), play, transcript));
        int named = args.length - 7;
        for (int i = 1; i < seats.size(); i++) {
            String name = args[7 + (i - 1) % named];
            if (i > named && name.contains(":")) {
                throw new IllegalArgumentException("the game takes " + (seats.size() - 1) + " opponents: " + named + " named");
            }
            relays.add(new Relay(address(name, i), play, transcript));
        }
        for (int i = 0; i < matches; i++) {
            System.out.println(play(game, roles, seats, relays, i, start, play, scrambled));
        }
        System.exit(0);
    }

    private static String read(String path) throws IOException {
        return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
    }

    /** The address of a player; a gamer of ggp-base is started here. */
    private static String address(String name, int number) throws Exception {
        if (name.contains(":")) {
            return name;
        }
        for (String place : PACKAGES) {
            try {
                Gamer gamer = (Gamer) Class.forName(place + name).getDeclaredConstructor().newInstance();
                GamePlayer player = new GamePlayer(9300 + number, gamer);
                player.start();
                return "127.0.0.1:" + player.getGamerPort();
            } catch (ClassNotFoundException missing) {
                // The next package may have it.
            }
        }
        throw new IllegalArgumentException("no gamer " + name + " in ggp-base's packages random and sample");
    }

    /**
     * Plays one match and returns a line of it: number, role of the player, states, its goal, the mean goal of the others, its late
     * answers, illegal moves and failures, its slowest answer to PLAY in seconds, and the errors of the others.
     */
    private static String play(
            Game game, List<Role> roles, List<Integer> seats, List<Relay> relays, int number, int start, int play,
            boolean scrambled) throws Exception {
        // The manager draws the moves of the role `random` and never uses its address.
        List<String> hosts = new ArrayList<>(Collections.nCopies(roles.size(), "127.0.0.1"));
        List<Integer> ports = new ArrayList<>(Collections.nCopies(roles.size(), 0));
        List<String> names = new ArrayList<>(Collections.nCopies(roles.size(), "random"));
        Map<Role, Relay> players = new HashMap<>();
        int seat = seats.get(number % seats.size());
        for (int i = 0; i < seats.size(); i++) {
            int role = seats.get((number + i) % seats.size());
            Relay relay = relays.get(i);
            relay.reset();
            ports.set(role, relay.port());
            names.set(role, i == 0 ? "player" : "opponent" + i);
            players.put(roles.get(role), relay);
        }
        Match match = new Match("match." + number + "." + System.currentTimeMillis(), -1, start, play, game, "");
        match.setPlayerNamesFromHost(names);
        if (scrambled) {
            match.enableScrambling();
        }
        GameServer server = new GameServer(match, hosts, ports);
        server.addObserver(new Errors(players));
        server.start();
        server.join();
        if (!match.isCompleted()) {
            throw new IllegalStateException("the manager did not finish match " + number);
        }
        double others = 0;
        int errors = 0;
        List<Integer> goals = match.getGoalValues();
        for (int role : seats) {
            if (role != seat) {
                others += goals.get(role) / (seats.size() - 1.0);
                errors += players.get(roles.get(role)).errors();
            }
        }
        String mean = seats.size() > 1 ? String.format(Locale.ROOT, "%.1f", others) : "-";
        Relay player = relays.get(0);
        return String.format(
                Locale.ROOT, "%d\t%s\t%d\t%d\t%s\t%d\t%d\t%d\t%.3f\t%d",
                number, roles.get(seat), match.getStateHistory().size(), goals.get(seat), mean,
                player.late, player.illegal, player.failed, player.slowest, errors);
    }

    /** Counts what the manager complains of. */
    private static final class Errors implements Observer {
        private final Map<Role, Relay> players;

        Errors(Map<Role, Relay> players) {
            this.players = players;
        }

        @Override
        public void observe(Event event) {
            if (event instanceof ServerIllegalMoveEvent) {
                ServerIllegalMoveEvent error = (ServerIllegalMoveEvent) event;
                players.get(error.getRole()).error("illegal", "illegal move " + error.getMove());
            } else if (event instanceof ServerTimeoutEvent) {
                players.get(((ServerTimeoutEvent) event).getRole()).error("late", "no answer in time");
            } else if (event instanceof ServerConnectionErrorEvent) {
                players.get(((ServerConnectionErrorEvent) event).getRole()).error("failed", "no connection or no answer");
            }
        }
    }

    /** Passes the requests of the manager to one player and the answers back, and times them. */
    private static final class Relay {
        private static final Pattern LENGTH = Pattern.compile("(?i)\\ncontent-length: *([0-9]{1,9})\r");

        private final InetSocketAddress player;
        private final ServerSocket door;
        private final int play;
        private final OutputStream transcript;
        /** The match that is being played; what answers of earlier matches say is not counted. */
        private int match;
        int late;
        int illegal;
        int failed;
        double slowest;

        Relay(String address, int play, OutputStream transcript) throws IOException {
            int colon = address.lastIndexOf(':');
            player = new InetSocketAddress(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
            door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            this.play = play;
            this.transcript = transcript;
            Thread thread = new Thread(this::accept);
            thread.setDaemon(true);
            thread.start();
        }

        int port() {
            return door.getLocalPort();
        }

        synchronized void reset() {
            match++;
            late = illegal = failed = 0;
            slowest = 0;
        }

        private synchronized int match() {
            return match;
        }

        synchronized int errors() {
            return late + illegal + failed;
        }

        synchronized void error(String kind, String what) {
            System.err.println(player + ": " + what);
            switch (kind) {
                case "late": late++; break;
                case "illegal": illegal++; break;
                default: failed++;
            }
        }

        private void accept() {
            try {
                while (true) {
                    Socket manager = door.accept();
                    long begun = System.nanoTime();
                    Thread thread = new Thread(() -> exchange(manager, begun));
                    thread.setDaemon(true);
                    thread.start();
                }
            } catch (IOException closed) {
                throw new IllegalStateException(closed);
            }
        }

        /** One request and its answer. A connection that breaks on one side is closed on the other, which the manager counts. */
        private void exchange(Socket manager, long begun) {
            int match = match();
            ByteArrayOutputStream asked = new ByteArrayOutputStream();
            ByteArrayOutputStream answered = new ByteArrayOutputStream();
            boolean whole = false;
            try (Socket near = manager; Socket far = new Socket()) {
                far.connect(player, 5000);
                Thread requests = new Thread(() -> requests(near, far, asked));
                requests.setDaemon(true);
                requests.start();
                InputStream in = far.getInputStream();
                OutputStream out = near.getOutputStream();
                byte[] buffer = new byte[4096];
                for (int n; (n = in.read(buffer)) >= 0; ) {
                    answered.write(buffer, 0, n);
                    // The manager goes on as soon as it has the last byte, so the answer is judged before that is passed on.
                    if (!whole && whole(answered)) {
                        whole = true;
                        finish(match, asked, answered, begun);
                    }
                    out.write(buffer, 0, n);
                }
                if (!whole) {
                    whole = true;
                    finish(match, asked, answered, begun);
                }
            } catch (IOException broken) {
                // The manager, whose side is closed too, counts it.
                if (!whole) {
                    finish(match, asked, answered, begun);
                }
            }
        }

        private void requests(Socket near, Socket far, ByteArrayOutputStream asked) {
            try {
                InputStream in = near.getInputStream();
                OutputStream out = far.getOutputStream();
                byte[] buffer = new byte[4096];
                for (int n; (n = in.read(buffer)) >= 0; ) {
                    asked.write(buffer, 0, n);
                    out.write(buffer, 0, n);
                }
                // The manager waits no longer.
                far.close();
            } catch (IOException broken) {
                // `exchange` sees it.
            }
        }

        private static String text(ByteArrayOutputStream bytes) {
            return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
        }

        private static String body(String message) {
            int end = message.indexOf("\r\n\r\n");
            return end < 0 ? "" : message.substring(end + 4).trim();
        }

        /** Whether an answer that gives its length is complete. */
        private static boolean whole(ByteArrayOutputStream answered) {
            String message = text(answered);
            int end = message.indexOf("\r\n\r\n");
            Matcher length = LENGTH.matcher(message);
            return end >= 0 && length.find() && length.start() < end
                && message.length() - end - 4 >= Integer.parseInt(length.group(1));
        }

        private void finish(int match, ByteArrayOutputStream asked, ByteArrayOutputStream answered, long begun) {
            double seconds = (System.nanoTime() - begun) / 1e9;
            if (match == match() && answered.size() > 0) {
                judge(text(asked), body(text(answered)), seconds);
            }
            if (transcript != null) {
                record(asked, answered, seconds);
            }
        }

        /** Counts what the manager lets pass: it waits a second longer than the play clock, and does not read most answers. */
        private void judge(String request, String answer, double seconds) {
            String[] words = body(request).split("[\\s()]+", 3);
            String kind = words.length > 1 ? words[1] : "";
            if (kind.equals("PLAY")) {
                synchronized (this) {
                    slowest = Math.max(slowest, seconds);
                }
                // Later answers have been counted by the manager.
                if (seconds > play && seconds < play + 1) {
                    error("late", String.format(Locale.ROOT, "a move after %.3f s", seconds));
                }
                if (answer.isEmpty()) {
                    error("failed", "an empty answer to PLAY");
                }
            } else if (kind.equals("START") && !answer.equalsIgnoreCase("ready")
                || kind.equals("STOP") && !answer.equalsIgnoreCase("done")) {
                error("failed", "the answer to " + kind + " is " + answer);
            }
        }

        private void record(ByteArrayOutputStream asked, ByteArrayOutputStream answered, double seconds) {
            String head = String.format(Locale.ROOT, "%n=== %s, %.3f s%n", player, seconds);
            synchronized (transcript) {
                try {
                    transcript.write(head.getBytes(StandardCharsets.UTF_8));
                    asked.writeTo(transcript);
                    transcript.write("\n--- answer\n".getBytes(StandardCharsets.UTF_8));
                    answered.writeTo(transcript);
                    transcript.write('\n');
                } catch (IOException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
    }
}
