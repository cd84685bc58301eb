import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

/** Prints, as JSON, which rules of a flavour each PDF breaks. Arguments: the flavour (2a, ua1), then the files. */
public class Validate {
  public static void main(String[] args) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    PDFAFlavour flavour = PDFAFlavour.byFlavourId(args[0]);
    Map<String, List<String>> broken = new LinkedHashMap<>();
    for (int i = 1; i < args.length; i++) broken.put(args[i], brokenBy(Path.of(args[i]), flavour));
    System.out.println(new ObjectMapper().writeValueAsString(broken));
  }

  static List<String> brokenBy(Path file, PDFAFlavour flavour) throws Exception {
    List<String> rules = new ArrayList<>();
    try (PDFAParser parser = Foundries.defaultInstance().createParser(Files.newInputStream(file), flavour)) {
      var result = Foundries.defaultInstance().createValidator(flavour, false).validate(parser);
      for (TestAssertion assertion : result.getTestAssertions())
        if (assertion.getStatus() == TestAssertion.Status.FAILED)
          rules.add(assertion.getRuleId().getClause() + "-" + assertion.getRuleId().getTestNumber() + " " + assertion.getMessage());
      if (!result.isCompliant() && rules.isEmpty()) rules.add("not compliant");
    }
    return rules;
  }
}
